"""C4-PlantUML, for sources that include it. PlantUML reads nothing here but the source, so the library is put into it."""

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent

# `<C4/C4_Container>` of the standard library, or the file by its name, wherever it is said to lie: on GitHub, mostly.
_INCLUDE = re.compile(
    rb"!include(?:_once|_many|url)?\s+(?:<C4/(?P<part>C4\w*)(?:\.puml)?>|(?:\S*/)?(?P<file>C4\w*)\.puml)\s*(?:#.*)?",
    re.IGNORECASE,
)


def included_part(line: bytes) -> str | None:
    """The part of the library that a line of a source includes."""
    line = line.strip()
    found = _INCLUDE.fullmatch(line) if line.startswith(b"!") else None
    return _find_parts().get((found["part"] or found["file"]).decode().lower()) if found else None


def expand_part(part: str, seen: set[str]) -> list[bytes]:
    """A part with those that it includes, but for what was `seen` before: a second time adds nothing."""
    if part in seen:
        return []
    seen.add(part)
    lines = []
    for line in _part_lines(part):
        below = included_part(line)
        lines += [line] if below is None else expand_part(below, seen)
    return lines


@cache
def _find_parts() -> dict[str, str]:
    return {path.stem.lower(): path.name for path in FOLDER.glob("*.puml")}


@cache
def _part_lines(part: str) -> list[bytes]:
    return (FOLDER / part).read_bytes().splitlines()
