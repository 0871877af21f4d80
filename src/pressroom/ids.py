"""One id, three spellings.

A job's uid is a UUIDv7, kept as 26 characters of Crockford Base32, which sort by time. People see it as
`job_01JD…`, as those 26 characters alone, or as a plain UUID; look-ups take any of them.
"""

import os
import threading
import time
import uuid

from pressroom.errors import NotFound

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]
_VALUES = {letter: value for value, letter in enumerate(_ALPHABET)} | {"I": 1, "L": 1, "O": 0}

_VERSION = 0x7 << 76
_VARIANT = 0x2 << 62
_RANDOM = (1 << 62) - 1
_PER_MILLISECOND = (1 << 12) - 1

_lock = threading.Lock()
_last = (0, 0)


def new_uid() -> str:
    """A fresh uid. Those made by one process sort in the order in which they were made."""
    global _last
    random = int.from_bytes(os.urandom(8))
    with _lock:
        millisecond, count = max((time.time_ns() // 1_000_000, 0), (_last[0], _last[1] + 1))
        if count > _PER_MILLISECOND:
            millisecond, count = millisecond + 1, 0
        _last = (millisecond, count)
    return _format_uid(millisecond << 80 | _VERSION | count << 64 | _VARIANT | random & _RANDOM)


def _format_uid(number: int) -> str:
    pairs = _PAIRS
    return "".join([pairs[number >> shift & 1023] for shift in range(120, -1, -10)])


def parse_uid(text: str) -> str:
    """The uid that any of the three spellings names. Raises NotFound: a malformed id names no job."""
    try:
        return _format_uid(_parse_uid(text.strip()))
    except (KeyError, ValueError):
        raise NotFound(f"{text[:80]!r} is not a job id; ids look like job_01JD… (26 characters) or a UUID") from None


def _parse_uid(text: str) -> int:
    letters = text.upper().removeprefix("JOB_").replace("-", "")
    if len(letters) == 32:
        return uuid.UUID(letters).int
    if len(letters) != 26:
        raise ValueError(text)
    number = 0
    for letter in letters:
        number = number << 5 | _VALUES[letter]
    if number >> 128:
        raise ValueError(text)
    return number


def as_uuid(uid: str) -> uuid.UUID:
    return uuid.UUID(int=_parse_uid(uid))
