"""Combining marks: characters that change the letter before them.

To normalise text is to sort the marks of each letter, which takes quadratic time for a letter with thousands. Unicode's
stream-safe text format (UAX 15, section 13) has at most 30; no language needs more than a few.
"""

import re
import unicodedata
from functools import cache, lru_cache

MAX_MARKS = 30
LAST = 0x1FFFF  # no mark has a greater number

# Of class 0 themselves, but they decompose into nothing but marks.
DECOMPOSE_INTO_MARKS = "\u0f73\u0f75\u0f81\uff9e\uff9f"


@cache
def _marks_pattern() -> str:
    """All of them as a set of a regular expression."""
    found = [ord(mark) for mark in DECOMPOSE_INTO_MARKS]
    found += [number for number in range(0x300, LAST + 1) if unicodedata.combining(chr(number))]
    ranges: list[tuple[int, int]] = []
    for number in sorted(found):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in ranges)}]"


@cache
def _excess_marks() -> re.Pattern[str]:
    return re.compile(f"({_marks_pattern()}{{{MAX_MARKS}}}){_marks_pattern()}+")


@cache
def _any_marks() -> re.Pattern[str]:
    return re.compile(f"{_marks_pattern()}+")


# No mark is ASCII. The set of all marks is slow to test, so it is tested only where there are other characters.
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LONG_NOT_ASCII = re.compile(rf"[^\x00-\x7f]{{{MAX_MARKS + 1},}}")
_SHORT_RUN = 8  # characters; of these a text repeats a few: quotes, dashes, letters with accents


def stream_safe(text: str) -> str:
    """Without the marks of a letter beyond the first 30."""
    return text if text.isascii() else _LONG_NOT_ASCII.sub(lambda run: _excess_marks().sub(r"\1", run[0]), text)


def decompose_without_marks(text: str) -> str:
    """In NFKD, the letters alone. What is not ASCII is decomposed apart: no mark moves across an ASCII character."""
    return text if text.isascii() else _NOT_ASCII.sub(_decompose_run, text)


def _decompose_run(found: re.Match[str]) -> str:
    run = found[0]
    return _decompose_short(run) if len(run) <= _SHORT_RUN else _decompose(run)


@lru_cache(maxsize=4096)
def _decompose_short(run: str) -> str:
    return _decompose(run)


def _decompose(run: str) -> str:
    return _any_marks().sub("", unicodedata.normalize("NFKD", stream_safe(run)))
