"""The form of the playground: a source, its language, output and options. It fits into the query of a link."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pressroom.apps.diagrams.named.versions import DiagramText
from pressroom.apps.diagrams.playground import languages
from pressroom.apps.diagrams.playground.languages import Language
from pressroom.kinds.rendering import RenderJobPayload
from pressroom.renderers.documents import RenderRequest
from pressroom.web.site import page_error

OUTPUTS = ("svg", "png", "pdf", "html")
LINK_LIMIT = 4_000  # characters of a link; some programs cut longer ones
FIELDS = ("language", "output", "theme", "engine", "options", "source")
SHORT = 64  # characters of a word


class PlaygroundForm(msgspec.Struct, frozen=True):
    language: str
    output: str
    source: str
    theme: str = ""
    engine: str = ""
    options: str = ""  # JSON, as it was typed

    @property
    def language_info(self) -> Language:
        found = languages.find_language(self.language)
        assert found is not None
        return found

    def render_request(self, output: str | None = None) -> RenderRequest:
        """What to render. Raises a refusal if the options are no JSON object."""
        wanted = output or self.output
        options = self.given_options()
        if self.language == "markdown" and wanted == "html":
            options.setdefault("page", True)  # a whole HTML page, since it is shown by itself
        return RenderRequest(
            self.language, wanted, self.source.encode(), options, self.language_info.engine_if_not_default(self.engine)
        )

    def diagram_text(self) -> DiagramText:
        """The same as the text of a named diagram, whose outputs are made when they are asked for."""
        return DiagramText(
            self.source, self.language, self.given_options(), self.language_info.engine_if_not_default(self.engine)
        )

    def given_options(self) -> dict[str, Any]:
        return ({"theme": self.theme} if self.theme else {}) | _parse_options(self.options)

    def fields(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in FIELDS}


def default_form(language: Language | None = None) -> PlaygroundForm:
    language = language or languages.default_language()
    return PlaygroundForm(language.name, language.outputs[0], language.samples[0].text)


def read_form(get: Callable[[str], str | None]) -> PlaygroundForm:
    """From a query or a form. What is left out is as at the beginning; what is wrong is refused with what would be right."""
    language = _find_language(get("language"))
    begun = default_form(language)
    source = get("source")
    return PlaygroundForm(
        language=language.name,
        output=_checked_choice("output", get("output"), language.outputs) or begun.output,
        source=begun.source if source is None else source,
        theme=_checked_choice("theme", get("theme"), language.themes),
        engine=_checked_choice("engine", get("engine"), language.engines),
        options=(get("options") or "").strip(),
    )


def read_supported_form(get: Callable[[str], str | None]) -> PlaygroundForm:
    """The same without values that the language does not support: its author may have changed only the language."""
    language = _find_language(get("language"))
    offered = {"output": language.outputs, "theme": language.themes, "engine": language.engines}
    known = {
        "output": OUTPUTS,
        "theme": languages.THEMES,
        "engine": tuple(engine for one in languages.languages() for engine in one.engines),
    }

    def fit(name: str) -> str | None:
        value = get(name)
        if name not in offered or not value or value in offered[name]:
            return value
        _checked_choice(name, value, known[name])
        return None

    return read_form(fit)


def form_of_payload(payload: RenderJobPayload, source: str) -> PlaygroundForm:
    """The form that a job was submitted with."""
    return form_of_text(DiagramText(source, payload.language, payload.options, payload.engine), payload.output)


def form_of_text(text: DiagramText, output: str = "svg") -> PlaygroundForm:
    language = languages.find_language(text.format)
    if language is None:
        raise page_error(f"there is no language {text.format[:SHORT]!r} here any more")
    options = dict(text.options)
    theme = str(options.pop("theme", ""))
    return PlaygroundForm(
        language=language.name,
        output=output,
        source=text.source,
        theme=theme if theme in language.themes else "",
        engine=text.engine or "",
        options=msgspec.json.encode(options).decode() if options else "",
    )


def _find_language(name: str | None) -> Language:
    if not name:
        return languages.default_language()
    found = languages.find_language(name)
    if found is None:
        known = ", ".join(language.name for language in languages.languages())
        raise page_error(f"there is no language {name[:SHORT]!r}; there are {known}")
    return found


def _checked_choice(name: str, value: str | None, offered: Sequence[str]) -> str:
    if not value:
        return ""
    if value not in offered:
        there = f"there are {', '.join(offered)}" if offered else f"this language has no {name} to choose"
        raise page_error(f"{name}: there is no {value[:SHORT]!r} here; {there}")
    return value


def _parse_options(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as reason:
        raise page_error(f'the options are a JSON object such as {{"scale": 3}}; {reason}') from None
