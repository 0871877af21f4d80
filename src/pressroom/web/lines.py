"""Two texts, line by line: what went, what came, and a little of what stayed around it."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

AROUND = 3  # lines that stayed, before and after each change
LONGEST = 2_000  # lines of a text; to compare more takes longer than anybody reads


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
    return list(_lines(old, new))


def _lines(old: list[str], new: list[str]) -> Iterator[Line]:
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(AROUND):
        if group[0][1] > 0:
            yield Line("gap", None, None, "")
        for change, start, stop, at, to in group:
            if change == "equal":
                yield from (Line("same", start + n + 1, at + n + 1, text) for n, text in enumerate(old[start:stop]))
                continue
            yield from (Line("gone", start + n + 1, None, text) for n, text in enumerate(old[start:stop]))
            yield from (Line("new", None, at + n + 1, text) for n, text in enumerate(new[at:to]))
