"""What the playground offers: each language, what it becomes here, and what it would take where it becomes nothing."""

from collections.abc import Sequence

import msgspec

from pressroom.apps.diagrams.playground.samples import Sample, samples_of
from pressroom.renderers import Engine, Missing, catalogue
from pressroom.renderers.documents import PAGE_MAKERS, PRINTERS

THEMES = ("light", "dark", "auto")
FIRST = "mermaid"  # what most people come for
FILE_SUFFIXES = {
    "markdown": "md",
    "mermaid": "mmd",
    "vega-lite": "vl.json",
    "vega": "vg.json",
    "plantuml": "puml",
    "svgbob": "bob",
}


class Language(msgspec.Struct, frozen=True):
    """`engines` are those that work here, the usual one first. None of them, and `missing` says why and what would help."""

    name: str
    title: str
    outputs: Sequence[str]
    themes: Sequence[str]
    engines: Sequence[str]
    samples: Sequence[Sample]
    missing: Missing | None = None

    @property
    def file_suffix(self) -> str:
        """Of a file with its source."""
        return FILE_SUFFIXES.get(self.name, self.name)

    @property
    def has_pictures(self) -> bool:
        return "svg" in self.outputs

    def engine_if_not_default(self, chosen: str) -> str | None:
        """The engine to name in a request: one that was chosen, or a lesser one where the usual one is missing."""
        usual = next(engine.name for engine in catalogue.engines() if engine.takes == self.name)
        if chosen:
            return chosen
        return None if not self.engines or self.engines[0] == usual else self.engines[0]


def languages() -> list[Language]:
    return [_language(name) for name in catalogue.languages()]


def available_languages() -> list[Language]:
    return [language for language in languages() if language.missing is None]


def default_language() -> Language:
    """The one to begin with. Where nothing works there is still a language, with what is missing."""
    known = available_languages() or languages()
    return next((language for language in known if language.name == FIRST), known[0])


def find_language(name: str) -> Language | None:
    name = catalogue.ALIASES.get(name.lower(), name.lower())
    return _language(name) if name in catalogue.languages() else None


def _language(name: str) -> Language:
    engines = [engine for engine in catalogue.engines() if engine.takes == name]
    working = [engine for engine in engines if engine.missing() is None]
    shown = working or engines
    return Language(
        name=name,
        title=engines[0].title,
        outputs=_list_outputs(shown),
        themes=THEMES if "theme" in shown[0].Options.__struct_fields__ else (),
        engines=[engine.name for engine in working],
        samples=samples_of(name) or (Sample("A small one", engines[0].sample),),
        missing=None if working else engines[0].missing(),
    )


def _list_outputs(engines: Sequence[type[Engine]]) -> list[str]:
    made = list(dict.fromkeys(output for engine in engines for output in engine.makes if output != "json"))
    if engines[0].takes in PAGE_MAKERS and any(catalogue.get_engine(printer).missing() is None for printer in PRINTERS):
        made.append("pdf")  # printed from its page
    return made
