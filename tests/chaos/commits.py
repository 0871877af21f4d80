"""Reading along what a client says to PostgreSQL, to know when it commits."""

import re
from functools import partial

from tests.chaos.proxy import Words

# Simple: Q, length, text; a COMMIT alone, or after all the rest of its transaction.
# Extended: P, length, a name for the statement (or none), text; then B, length, portal, that name.
_SIMPLE = re.compile(rb"(?:Q.{4}|; )COMMIT\0", re.DOTALL)
_PARSE = re.compile(rb"P.{4}([^\0]*)\0COMMIT\0", re.DOTALL)
_TAIL = 64  # longer than any of these

OVER = partial(Words, b"Z\0\0\0\5I")  # what the server says when there is no transaction any more


class Commits:
    """A statement that was prepared long ago is executed by its name alone, so names are remembered.

    A name that now stands for COMMIT may have stood for something else, and the other way round: psycopg never gives one twice.
    """

    def __init__(self) -> None:
        self._names: set[bytes] = set()
        self._tail = b""

    def sees(self, piece: bytes) -> bool:
        text = self._tail + piece
        self._tail = text[-_TAIL:]
        parsed = {match[1] for match in _PARSE.finditer(text)}
        self._names |= parsed - {b""}
        found = bool(_SIMPLE.search(text)) or bool(parsed)
        found = found or any(re.search(rb"B.{4}\0%s\0" % re.escape(name), text, re.DOTALL) for name in self._names)
        if found:
            self._tail = b""
        return found
