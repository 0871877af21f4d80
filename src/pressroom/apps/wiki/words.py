"""Words as search knows them: small letters, no accents, nothing but letters and digits. Both databases are given the same."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from pressroom.apps.wiki.combining import stream_safe, without_marks

MOST_INDEXED = 200_000  # characters of an article, in words
MOST_SOUGHT = 20
LONGEST = 100  # letters of a word; PostgreSQL keeps none that is much longer
LOOKED_THROUGH = 50_000  # characters of an article, for an excerpt
AROUND = 90  # characters on either side of what was found

PART = 20_000  # characters that are folded at once

_SPACE = re.compile(r"\s")
_WORD = re.compile(rf"[^\W_]{{1,{LONGEST}}}")


class Words(NamedTuple):
    """What search is to know of an article."""

    title: str
    text: str


class Piece(NamedTuple):
    """Of an excerpt; `found` if it is one of the words that were sought."""

    text: str
    found: bool


def folded(text: str) -> str:
    """Without accents and in small letters, whatever the alphabet."""
    if text.isascii():
        return text.lower()
    return without_marks(unicodedata.normalize("NFKD", stream_safe(text.casefold())))


def words_in(text: str) -> list[str]:
    return _WORD.findall(folded(text))


def indexed(text: str) -> str:
    """A letter may become eighteen (U+FDFA), so the text is folded in parts, until there are enough words."""
    words: list[str] = []
    size, rest = 0, text[: 2 * MOST_INDEXED]
    while rest and size < MOST_INDEXED:
        part, rest = _split_after(rest, PART)
        found = words_in(part)
        words += found
        size += sum(map(len, found)) + len(found)
    return " ".join(words)[:MOST_INDEXED]


def _split_after(text: str, size: int) -> tuple[str, str]:
    """In two, at the first white space after so many characters, if there is one near."""
    space = _SPACE.search(text, size, size + LONGEST)
    at = space.end() if space else size
    return text[:at], text[at:]


def words_of(title: str, source: str) -> Words:
    return Words(indexed(title), indexed(source))


def sought(text: str) -> list[str]:
    """The words of a question. The last one may be only begun."""
    return words_in(text[:1000])[:MOST_SOUGHT]


def excerpt(source: str, words: Sequence[str]) -> list[Piece]:
    """Where the first of the words stands, or how the text begins."""
    text = source[:LOOKED_THROUGH]
    first = next((word.start() for word in _WORD.finditer(text) if _is_sought(word[0], words)), 0)
    start = _at_a_word(text, first - AROUND) if first > AROUND else 0
    window = " ".join(text[start : first + 2 * AROUND].split())
    pieces, at = [], 0
    for word in _WORD.finditer(window):
        if _is_sought(word[0], words):
            pieces += [Piece(window[at : word.start()], found=False), Piece(word[0], found=True)]
            at = word.end()
    pieces.append(Piece(window[at:] + ("…" if first + 2 * AROUND < len(source) else ""), found=False))
    if start > 0:
        pieces.insert(0, Piece("…", found=False))
    return [piece for piece in pieces if piece.text]


def _is_sought(word: str, words: Sequence[str]) -> bool:
    said = folded(word)
    return said in words or (bool(words) and said.startswith(words[-1]))


def _at_a_word(text: str, start: int) -> int:
    """Where the next word begins, so that none is cut."""
    space = text.find(" ", start)
    return start if space < 0 or space > start + AROUND // 2 else space + 1
