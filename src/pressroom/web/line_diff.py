"""Two texts, line by line: what went, what came, and a little of what stayed around it."""

import asyncio
from collections.abc import Iterator
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

CONTEXT_LINES = 3  # lines that stayed, before and after each change
MAX_LINES = 2_000  # lines of a text; a longer text is not compared
MAX_STEPS = 3_000_000  # of the comparison


class DiffLine(NamedTuple):
    """`change` is `gone`, `new`, `same`, or `gap` for lines that are left out. Numbers count from 1."""

    change: str
    before: int | None
    after: int | None
    text: str


def diff_lines(before: str, after: str) -> list[DiffLine] | None:
    """None for texts that are too long to compare. No lines at all: they are the same."""
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > MAX_LINES:
        return None
    try:
        return list(_grouped_lines(old, new))
    except _StepLimitReached:
        return None


async def diff_lines_in_thread(before: str, after: str) -> list[DiffLine] | None:
    """The same as `compared`, in a thread: even within its bound it may take a second."""
    return await asyncio.to_thread(diff_lines, before, after)


class _StepLimitReached(Exception):
    pass


class _BoundedMatcher(SequenceMatcher[str]):
    """Lines that are repeated often are each compared with all of their like, again and again. That ends at MOST_STEPS."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new)
        self._steps = MAX_STEPS
        self._size = len(old)
        alike: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]
        self._before = [0, *accumulate(1 + len(alike.get(line, ())) for line in old)]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._steps -= self._before[self._size if ahi is None else ahi] - self._before[alo]
        if self._steps < 0:
            raise _StepLimitReached
        return super().find_longest_match(alo, ahi, blo, bhi)


def _grouped_lines(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    for group in _BoundedMatcher(old, new).get_grouped_opcodes(CONTEXT_LINES):
        if group[0][1] > 0:
            yield DiffLine("gap", None, None, "")
        for change, start, stop, at, to in group:
            if change == "equal":
                yield from (DiffLine("same", start + n + 1, at + n + 1, text) for n, text in enumerate(old[start:stop]))
                continue
            yield from (DiffLine("gone", start + n + 1, None, text) for n, text in enumerate(old[start:stop]))
            yield from (DiffLine("new", None, at + n + 1, text) for n, text in enumerate(new[at:to]))
