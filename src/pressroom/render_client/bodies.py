"""The JSON of a render request: what the client of a render service sends, and what the service reads."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pressroom.errors import InvalidArgument, SourceInvalid
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.jinja.sections import template_of

type EngineName = Annotated[str, Meta(min_length=1, max_length=64)]

TEMPLATE_OPTIONS = ("data", "templates", "strings", "styles", "lang")  # of the language jinja; all others are the printer's


class RenderBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of all: the printer, and its options."""

    options: dict[str, Any] = {}
    engine: EngineName | None = None


class HtmlBody(RenderBody, frozen=True, kw_only=True):
    html: str

    def to_request(self) -> RenderRequest:
        return RenderRequest("html", "pdf", self.html.encode(), self.options, self.engine)


class MarkdownBody(RenderBody, frozen=True, kw_only=True):
    markdown: str

    def to_request(self) -> RenderRequest:
        return RenderRequest("markdown", "pdf", self.markdown.encode(), self.options, self.engine)


class TemplateBody(RenderBody, frozen=True, kw_only=True):
    """A Jinja template and what fills it. `templates` are those that it includes or extends, by name."""

    template: str
    data: dict[str, Any] = {}
    templates: dict[str, str] = {}
    strings: dict[str, Any] = {}
    styles: list[str] = []
    lang: str = "en"

    def to_request(self) -> RenderRequest:
        if taken := sorted(self.options.keys() & {*TEMPLATE_OPTIONS}):
            raise InvalidArgument(f"options: {taken[0]} stands beside `template`, not in the options")
        filled = {name: getattr(self, name) for name in TEMPLATE_OPTIONS}
        return RenderRequest("jinja", "pdf", self.template.encode(), filled | self.options, self.engine)


class SectionsBody(RenderBody, frozen=True, kw_only=True):
    """The form of the source product (design 002): a title, and sections of text, bullets and tables."""

    sections: Any
    title: Any = ""
    meta: Any = {}
    lang: str = "en"

    def to_request(self) -> RenderRequest:
        template, data = template_of({"title": self.title, "sections": self.sections, "meta": self.meta})
        filled = {"data": data, "lang": self.lang, "title": data["title"][:1000]}
        return RenderRequest("jinja", "pdf", template.encode(), filled | self.options, self.engine)


type AnyRenderBody = HtmlBody | MarkdownBody | TemplateBody | SectionsBody


def encode_request(request: RenderRequest) -> bytes:
    """The body of `POST /render`. Raises InvalidArgument for a language that a render service does not take."""
    return msgspec.json.encode(_to_body(request))


def _to_body(request: RenderRequest) -> Mapping[str, Any]:
    try:
        source = request.source.decode()
    except UnicodeDecodeError as wrong:
        line = request.source.count(b"\n", 0, wrong.start) + 1
        raise SourceInvalid("the source is not UTF-8", line=line) from None
    options = dict(request.options)
    shared = {"engine": request.engine} if request.engine else {}
    match request.language, request.output:
        case ("html" | "markdown") as language, "pdf":
            return {language: source, "options": options, **shared}
        case "jinja", "pdf":
            fields = {name: options.pop(name) for name in TEMPLATE_OPTIONS if name in options}
            return {"template": source, **fields, "options": options, **shared}
    raise InvalidArgument(f"a render service does not make {request.output[:100]!r} of {request.language[:100]!r}")
