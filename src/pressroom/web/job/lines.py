"""A source with numbered lines, and the lines around a mistake."""

from collections.abc import Mapping
from typing import Any

import msgspec

AROUND = 3  # lines before and after
WIDE = 160  # characters of a line that are shown around a mistake
MOST_LINES = 5_000
MOST_LETTERS = 300_000


class Line(msgspec.Struct, frozen=True):
    """`before`, `mark` and `after` are its text, cut at the place that is meant; `mark` is empty where none is."""

    number: int
    before: str
    mark: str = ""
    after: str = ""
    is_it: bool = False

    @property
    def caret(self) -> str:
        """What leads to the mark. Tabs stay tabs, so that it stands below it."""
        return "".join("\t" if letter == "\t" else " " for letter in self.before) + "^"


class Shown(msgspec.Struct, frozen=True):
    """As much of a source as a page can bear. `cut` if there is more."""

    lines: list[str]
    cut: bool
    total: int


def shown(source: str) -> Shown:
    lines = split(source)
    kept = split(source[:MOST_LETTERS])[:MOST_LINES]
    return Shown(kept, len(source) > MOST_LETTERS or len(lines) > MOST_LINES, len(lines))


def split(source: str) -> list[str]:
    """As engines count them: a line ends with LF, CR LF or CR, and with nothing else."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if len(lines) > 1 and lines[-1] == "" else lines


def located(source: str | None, error: Mapping[str, Any]) -> list[Line]:
    """The lines around the place that an error names; none if it names none, or none that is there."""
    number, column = error.get("line"), error.get("column")
    if source is None or not isinstance(number, int):
        return []
    lines = split(source)
    if not 1 <= number <= len(lines):
        return []
    first, last = max(1, number - AROUND), min(len(lines), number + AROUND)
    around = [Line(at, _short(lines[at - 1])) for at in range(first, last + 1)]
    around[number - first] = _cut(number, lines[number - 1], column if isinstance(column, int) else None)
    return around


def _cut(number: int, text: str, column: int | None) -> Line:
    if column is None or not 1 <= column <= len(text) + 1:
        return Line(number, _short(text), is_it=True)
    at = column - 1
    start = max(0, at - WIDE // 2)
    stop = max(start + WIDE, at + 1)
    before = ("…" if start else "") + text[start:at]
    after = text[at + 1 : stop] + ("…" if len(text) > stop else "")
    return Line(number, before, text[at : at + 1] or " ", after, is_it=True)


def _short(text: str) -> str:
    return text if len(text) <= WIDE else text[:WIDE] + "…"
