"""A source with numbered lines, and the lines around a mistake."""

from collections.abc import Mapping
from typing import Any

import msgspec

CONTEXT_LINES = 3  # lines before and after
MAX_LINE_WIDTH = 160  # characters of a line that are shown around a mistake
MAX_LINES = 5_000
MAX_CHARACTERS = 300_000


class SourceLine(msgspec.Struct, frozen=True):
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


class SourceExcerpt(msgspec.Struct, frozen=True):
    """As much of a source as a page can bear. `cut` if there is more."""

    lines: list[str]
    cut: bool
    total: int


def excerpt_of(source: str) -> SourceExcerpt:
    lines = split_lines(source)
    kept = split_lines(source[:MAX_CHARACTERS])[:MAX_LINES]
    return SourceExcerpt(kept, len(source) > MAX_CHARACTERS or len(lines) > MAX_LINES, len(lines))


def split_lines(source: str) -> list[str]:
    """As engines count them: a line ends with LF, CR LF or CR, and with nothing else."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if len(lines) > 1 and lines[-1] == "" else lines


def lines_around_error(source: str | None, error: Mapping[str, Any]) -> list[SourceLine]:
    """The lines around the place that an error names; none if it names none, or none that is there."""
    number, column = error.get("line"), error.get("column")
    if source is None or not isinstance(number, int):
        return []
    lines = split_lines(source)
    if not 1 <= number <= len(lines):
        return []
    first, last = max(1, number - CONTEXT_LINES), min(len(lines), number + CONTEXT_LINES)
    around = [SourceLine(at, _shorten_line(lines[at - 1])) for at in range(first, last + 1)]
    around[number - first] = _mark_column(number, lines[number - 1], column if isinstance(column, int) else None)
    return around


def _mark_column(number: int, text: str, column: int | None) -> SourceLine:
    if column is None or not 1 <= column <= len(text) + 1:
        return SourceLine(number, _shorten_line(text), is_it=True)
    at = column - 1
    start = max(0, at - MAX_LINE_WIDTH // 2)
    stop = max(start + MAX_LINE_WIDTH, at + 1)
    before = ("…" if start else "") + text[start:at]
    after = text[at + 1 : stop] + ("…" if len(text) > stop else "")
    return SourceLine(number, before, text[at : at + 1] or " ", after, is_it=True)


def _shorten_line(text: str) -> str:
    return text if len(text) <= MAX_LINE_WIDTH else text[:MAX_LINE_WIDTH] + "…"
