"""A source with its includes expanded and lines inserted, and a map back to the line numbers of its author."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pressroom.apps.diagrams.kroki import c4

_START = re.compile(rb"\s*@start\w")


class ExpandedSource(NamedTuple):
    """The expanded source, and for each of its lines the number of the author's line, if they differ."""

    source: bytes
    author_lines: Sequence[int] = ()

    def author_line(self, number: int) -> int:
        return self.author_lines[number - 1] if 0 < number <= len(self.author_lines) else number


def expand_plantuml(source: bytes, line: str | None) -> ExpandedSource:
    """With the parts of C4 that it includes, and with `line` inserted after the start of the diagram."""
    if line is None and b"!include" not in source.lower():
        return ExpandedSource(source)
    lines: list[tuple[bytes, int]] = []
    seen: set[str] = set()
    for number, text in enumerate(source.splitlines(keepends=True), 1):
        part = c4.included_part(text)
        lines += [(text, number)] if part is None else [(more + b"\n", number) for more in c4.expand_part(part, seen)]
    if line is not None:
        place = _insertion_point(lines)
        lines.insert(place, (line.encode() + b"\n", lines[place][1] if place < len(lines) else place))
    return ExpandedSource(b"".join(text for text, _ in lines), [number for _, number in lines])


def _insertion_point(lines: Sequence[tuple[bytes, int]]) -> int:
    """After the `@start…` line, or at the top of a source that has none."""
    for place, (text, _) in enumerate(lines):
        if text.strip():
            return place + 1 if _START.match(text) else 0
    return 0
