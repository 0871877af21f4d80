"""The sheet that lies in the playground: a source, its language, and what is to be made of it. It fits into a link."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pressroom.apps.diagrams import playground_languages as offer
from pressroom.apps.diagrams.playground_languages import Language
from pressroom.apps.diagrams.versions import Text
from pressroom.renderers.documents import Asked
from pressroom.rendering import Payload
from pressroom.web.desk import refuse

OUTPUTS = ("svg", "png", "pdf", "html")
LINKED = 4_000  # characters of a link; some programs cut longer ones
FIELDS = ("language", "output", "theme", "engine", "options", "source")
SHORT = 64  # characters of a word


class Sheet(msgspec.Struct, frozen=True):
    language: str
    output: str
    source: str
    theme: str = ""
    engine: str = ""
    options: str = ""  # JSON, as it was typed

    @property
    def offered(self) -> Language:
        found = offer.find(self.language)
        assert found is not None
        return found

    def asked(self, output: str | None = None) -> Asked:
        """What to render. Raises a refusal if the options are no JSON object."""
        wanted = output or self.output
        options = self.given_options()
        if self.language == "markdown" and wanted == "html":
            options.setdefault("page", True)  # somebody looks at it as it is
        return Asked(self.language, wanted, self.source.encode(), options, self.offered.engine(self.engine))

    def text(self) -> Text:
        """The same as the text of a named diagram, whose outputs are made when they are asked for."""
        return Text(self.source, self.language, self.given_options(), self.offered.engine(self.engine))

    def given_options(self) -> dict[str, Any]:
        return ({"theme": self.theme} if self.theme else {}) | _options(self.options)

    def fields(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in FIELDS}


def blank(language: Language | None = None) -> Sheet:
    language = language or offer.first()
    return Sheet(language.name, language.outputs[0], language.samples[0].text)


def read(get: Callable[[str], str | None]) -> Sheet:
    """From a query or a form. What is left out is as at the beginning; what is wrong is refused with what would be right."""
    language = _language(get("language"))
    begun = blank(language)
    source = get("source")
    return Sheet(
        language=language.name,
        output=_one_of("output", get("output"), language.outputs) or begun.output,
        source=begun.source if source is None else source,
        theme=_one_of("theme", get("theme"), language.themes),
        engine=_one_of("engine", get("engine"), language.engines),
        options=(get("options") or "").strip(),
    )


def fitted(get: Callable[[str], str | None]) -> Sheet:
    """The same, but what the language cannot do is left out: somebody may have chosen only another language."""
    language = _language(get("language"))
    offered = {"output": language.outputs, "theme": language.themes, "engine": language.engines}
    known = {
        "output": OUTPUTS,
        "theme": offer.THEMES,
        "engine": tuple(engine for one in offer.languages() for engine in one.engines),
    }

    def fit(name: str) -> str | None:
        value = get(name)
        if name not in offered or not value or value in offered[name]:
            return value
        _one_of(name, value, known[name])
        return None

    return read(fit)


def from_payload(payload: Payload, source: str) -> Sheet:
    """What a job was asked to render, on the table again."""
    return from_text(Text(source, payload.language, payload.options, payload.engine), payload.output)


def from_text(text: Text, output: str = "svg") -> Sheet:
    language = offer.find(text.format)
    if language is None:
        raise refuse(f"there is no language {text.format[:SHORT]!r} here any more")
    options = dict(text.options)
    theme = str(options.pop("theme", ""))
    return Sheet(
        language=language.name,
        output=output,
        source=text.source,
        theme=theme if theme in language.themes else "",
        engine=text.engine or "",
        options=msgspec.json.encode(options).decode() if options else "",
    )


def _language(name: str | None) -> Language:
    if not name:
        return offer.first()
    found = offer.find(name)
    if found is None:
        known = ", ".join(language.name for language in offer.languages())
        raise refuse(f"there is no language {name[:SHORT]!r}; there are {known}")
    return found


def _one_of(name: str, value: str | None, offered: Sequence[str]) -> str:
    if not value:
        return ""
    if value not in offered:
        there = f"there are {', '.join(offered)}" if offered else f"this language has no {name} to choose"
        raise refuse(f"{name}: there is no {value[:SHORT]!r} here; {there}")
    return value


def _options(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as reason:
        raise refuse(f'the options are a JSON object such as {{"scale": 3}}; {reason}') from None
