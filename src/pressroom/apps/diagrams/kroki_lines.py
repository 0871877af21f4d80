"""Lines that a source needs and its author did not write, and the way back to the lines that the author counts."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pressroom.apps.diagrams import kroki_c4

_START = re.compile(rb"\s*@start\w")


class Written(NamedTuple):
    """A source as it is drawn, and for each of its lines the one of the author's that it stands for, if they differ."""

    source: bytes
    authors: Sequence[int] = ()

    def line_of(self, number: int) -> int:
        return self.authors[number - 1] if 0 < number <= len(self.authors) else number


def plantuml(source: bytes, line: str | None) -> Written:
    """With a line that must stand right after the beginning, and with what it includes of C4."""
    if line is None and b"!include" not in source.lower():
        return Written(source)
    lines: list[tuple[bytes, int]] = []
    seen: set[str] = set()
    for number, text in enumerate(source.splitlines(keepends=True), 1):
        part = kroki_c4.included_by(text)
        lines += [(text, number)] if part is None else [(more + b"\n", number) for more in kroki_c4.lines_of(part, seen)]
    if line is not None:
        place = _after_the_start(lines)
        lines.insert(place, (line.encode() + b"\n", lines[place][1] if place < len(lines) else place))
    return Written(b"".join(text for text, _ in lines), [number for _, number in lines])


def _after_the_start(lines: Sequence[tuple[bytes, int]]) -> int:
    """The first line that says something begins the diagram, or is within one whose beginning was left out."""
    for place, (text, _) in enumerate(lines):
        if text.strip():
            return place + 1 if _START.match(text) else 0
    return 0
