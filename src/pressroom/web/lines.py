"""Two texts, line by line: what went, what came, and a little of what stayed around it."""

import asyncio
from collections.abc import Iterator
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

AROUND = 3  # lines that stayed, before and after each change
LONGEST = 2_000  # lines of a text; to compare more takes longer than anybody reads
MOST_STEPS = 3_000_000  # of the comparison


class Line(NamedTuple):
    """`change` is `gone`, `new`, `same`, or `gap` for lines that are left out. Numbers count from 1."""

    change: str
    before: int | None
    after: int | None
    text: str


def compared(before: str, after: str) -> list[Line] | None:
    """None for texts that are too long to compare. No lines at all: they are the same."""
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > LONGEST:
        return None
    try:
        return list(_lines(old, new))
    except _TooMuchWork:
        return None


async def compare_lines(before: str, after: str) -> list[Line] | None:
    """The same as `compared`, in a thread: even within its bound it may take a second."""
    return await asyncio.to_thread(compared, before, after)


class _TooMuchWork(Exception):
    pass


class _BoundedMatcher(SequenceMatcher[str]):
    """Lines that are repeated often are each compared with all of their like, again and again. That ends at MOST_STEPS."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new)
        self._steps = MOST_STEPS
        self._size = len(old)
        alike: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]
        self._before = [0, *accumulate(1 + len(alike.get(line, ())) for line in old)]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._steps -= self._before[self._size if ahi is None else ahi] - self._before[alo]
        if self._steps < 0:
            raise _TooMuchWork
        return super().find_longest_match(alo, ahi, blo, bhi)


def _lines(old: list[str], new: list[str]) -> Iterator[Line]:
    for group in _BoundedMatcher(old, new).get_grouped_opcodes(AROUND):
        if group[0][1] > 0:
            yield Line("gap", None, None, "")
        for change, start, stop, at, to in group:
            if change == "equal":
                yield from (Line("same", start + n + 1, at + n + 1, text) for n, text in enumerate(old[start:stop]))
                continue
            yield from (Line("gone", start + n + 1, None, text) for n, text in enumerate(old[start:stop]))
            yield from (Line("new", None, at + n + 1, text) for n, text in enumerate(new[at:to]))
