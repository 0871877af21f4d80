"""Jinja templates to HTML: strict about what is missing, in a sandbox within the sandbox of the engine process.

Other engines finish the document: `documents.plan` prints the page, and draws the diagrams of its Markdown.
"""

import json
import re
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from pressroom.errors import PressroomError, SourceInvalid, TooLarge
from pressroom.renderers import MB, MEDIA_TYPES, Engine, Limits, Missing, Notice, Rendered
from pressroom.renderers.markdown.engine import DIAGRAM_MARK, Markdown, MarkdownOptions, diagram_mark
from pressroom.renderers.source_errors import source_error

if TYPE_CHECKING:
    from types import CodeType

    from pressroom.renderers.jinja.environment import TemplateEnvironment

MOST_TEXT = 16 * MB  # of templates, styles and strings together
MOST_COMPILED = 200  # templates whose code a process keeps

_ADDRESS = re.compile(r" (?:object )?at 0x[0-9a-fA-F]+")


class JinjaOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`templates` are those that the source may include, extend or import, by name. `strings` are what `t` looks up."""

    data: dict[str, Any] = {}
    templates: dict[str, str] = {}
    strings: dict[str, Any] = {}
    styles: list[str] = []
    lang: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$", max_length=64)] = "en"
    title: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    currency: Annotated[str, msgspec.Meta(pattern=r"^([A-Z]{3})?$")] = ""  # of amounts that name none
    timezone: Annotated[str, msgspec.Meta(max_length=64)] = "UTC"


class Jinja(Engine):
    name = "jinja"
    title = "Jinja template"
    takes = "jinja"
    makes = ("html", "json")
    sample = "<h1>{{ 'Hello' }}</h1>\n{% for n in range(2) %}<p>{{ n|number }}</p>{% endfor %}\n"
    Options = JinjaOptions
    limits = Limits(source=1 * MB, output=20 * MB, seconds=20, memory=512 * MB, strict_memory=True)
    packages = ("jinja2", "babel", "segno")

    @classmethod
    def version(cls) -> str:
        return f"{super().version()}, markdown: {Markdown.version()}"

    @classmethod
    def missing(cls) -> Missing | None:
        missing = super().missing() or Markdown.missing()
        return missing and Missing(missing.what, "pip install 'pressroom[packs]'")

    @classmethod
    def check(cls, source: bytes, output: str, options: Mapping[str, Any]) -> None:
        super().check(source, output, options)
        given = msgspec.convert(options, cls.Options)
        size = sum(map(len, [*given.templates.values(), *given.styles]))
        if size > MOST_TEXT:
            raise TooLarge(f"the templates and styles have {size:,} characters; {cls.name} takes at most {MOST_TEXT:,}")

    def __init__(self) -> None:
        from pressroom.renderers.jinja import data, environment, fields, filters, page

        self._data = data
        self._environment = environment
        self._fields = fields
        self._filters = filters
        self._page = page
        self._markdown = Markdown()
        self._compiled: dict[tuple[str | None, str], CodeType] = {}

    def render(self, source: str, output: str, options: JinjaOptions) -> Rendered:
        if not source.strip():
            raise SourceInvalid("the source is empty")
        if len(self._compiled) > MOST_COMPILED:
            self._compiled.clear()
        sources = {**options.templates, "": source}
        filters = self._filters.RenderFilters(options, self._markdown, MarkdownOptions(anchors=False, diagrams=True))
        data = {} if output == "json" else self._data.with_paths(options.data, "")
        environment = self._environment.TemplateEnvironment(
            data, options.templates, filters.filters(), {"t": filters.strings.translate}, self._compiled
        )
        try:
            if output == "json":
                read = self._fields.fields_of(environment, source)
                return Rendered(json.dumps(read, ensure_ascii=False, indent=1).encode(), MEDIA_TYPES["json"])
            body = self._run(environment, source)
        except (PressroomError, MemoryError):
            raise
        except Exception as error:
            raise _explain(error, sources) from None
        return self._finish(body, options, filters)

    def _run(self, environment: "TemplateEnvironment", source: str) -> str:
        template = environment.from_string(source)
        pieces = []
        size = 0
        for piece in self._environment.render_pieces(template):
            size += len(piece)
            if size > self.limits.output:
                raise TooLarge(f"the page has more than {self.limits.output:,} characters, which is the limit")
            pieces.append(piece)
        return "".join(pieces)

    def _finish(self, body: str, options: JinjaOptions, filters: Any) -> Rendered:
        style = self._page.style_element(options.styles)
        lang = options.lang.replace("_", "-")
        direction = filters.locale.text_direction
        page, title = self._page.finish_page(body, style, lang=lang, direction=direction, title=options.title)
        warnings: list[Notice] = [*filters.strings.notices.values(), *filters.notices]
        details: dict[str, Any] = {"title": title} if title else {}
        page, diagrams = _number_diagrams(page, filters.diagrams)
        if diagrams:
            details["diagrams"] = diagrams
        if not title:
            warnings.append(Notice("no_title", "the document has no title; add <title> or <h1>, or set `title`"))
        return Rendered(page.encode(), MEDIA_TYPES["html"], warnings, details)


def _number_diagrams(page: str, diagrams: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The marks in the order of the page: a template may print the same Markdown twice, in another order or never."""
    placed: list[dict[str, Any]] = []

    def place(mark: re.Match[str]) -> str:
        number = int(re.sub(r"\D", "", mark[0]))
        if number >= len(diagrams):
            return ""
        placed.append(diagrams[number])
        return diagram_mark(len(placed) - 1)

    return DIAGRAM_MARK.sub(place, page) if "<!--pressroom" in page else page, placed


def _explain(error: Exception, sources: Mapping[str, str]) -> PressroomError:
    """What is wrong, with the template and the line: what fails in a template is the template's fault or its data's."""
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    name, line = _place_of(error.__traceback__)
    if isinstance(error, TemplateSyntaxError):
        name, line = error.name, error.lineno
    elif line is None and not isinstance(error, TemplateNotFound | RecursionError | SyntaxError | ValueError):
        raise error
    message = _ADDRESS.sub("", _message_of(error))[:500]
    name = name or ""
    where = f"template {name[:100]!r}: " if name else ""
    return source_error(sources.get(name, ""), where + message, line)


def _message_of(error: Exception) -> str:
    from jinja2.exceptions import TemplateError

    match error:
        case RecursionError():
            return "it is nested too deeply, or includes or calls itself without an end"
        case SyntaxError():  # of the Python that it was compiled to
            return f"it is nested too deeply: {error.msg}"
        case TemplateError():
            return error.message or "it cannot be rendered"
        case KeyError() | ZeroDivisionError() | TypeError() | ValueError() | AttributeError() | OverflowError():
            return str(error).partition("; use sys.")[0] or type(error).__name__
    return f"{type(error).__name__}: {error}"


def _place_of(traceback: TracebackType | None) -> tuple[str | None, int | None]:
    """The innermost line of a template that was running."""
    found: tuple[str | None, int | None] = None, None
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            found = template.name, template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return found
