"""Terms of the search index: lower case, no accents, nothing but letters and digits. Both databases are given the same."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pressroom.apps.wiki.combining_marks import decompose_without_marks

MAX_INDEXED = 200_000  # characters of an article, in words
MAX_QUERY_TERMS = 20
MAX_TERM_LENGTH = 100  # letters of a word; PostgreSQL keeps none that is much longer
EXCERPT_SCAN_LIMIT = 50_000  # characters of an article, for an excerpt
EXCERPT_CONTEXT = 90  # characters on either side of what was found

FOLD_CHUNK = 20_000  # characters that are folded at once

_SPACE = re.compile(r"\s")
_WORD = re.compile(rf"[^\W_]{{1,{MAX_TERM_LENGTH}}}")
_ASCII_SEPARATORS_AS_SPACES = bytes(byte if byte > 127 or chr(byte).isalnum() else ord(" ") for byte in range(256))


class ArticleTerms(NamedTuple):
    """The search terms of an article."""

    title: str
    text: str


class ExcerptPart(NamedTuple):
    """Of an excerpt; `found` if it is one of the words of the query."""

    text: str
    found: bool


def fold_text(text: str) -> str:
    """Without accents and in small letters, whatever the alphabet."""
    if text.isascii():
        return text.lower()
    return decompose_without_marks(text.casefold())


def split_words(text: str) -> list[str]:
    """As `_WORD` finds them. Most lie between white space and ASCII punctuation, where `split` is much faster."""
    data = fold_text(text).encode(errors="surrogatepass").translate(_ASCII_SEPARATORS_AS_SPACES)
    parts = data.decode(errors="surrogatepass").split()
    if data.isascii() and max(map(len, parts), default=0) <= MAX_TERM_LENGTH:
        return parts
    words: list[str] = []
    for part in parts:
        if len(part) <= MAX_TERM_LENGTH and part.isalnum():
            words.append(part)
        else:
            words += _WORD.findall(part)
    return words


def index_text(text: str) -> str:
    """A letter may become eighteen (U+FDFA), so the text is folded in parts, until there are enough words."""
    words: list[str] = []
    size, rest = 0, text[: 2 * MAX_INDEXED]
    while rest and size < MAX_INDEXED:
        part, rest = _split_after(rest, FOLD_CHUNK)
        found = split_words(part)
        words += found
        size += sum(map(len, found)) + len(found)
    return " ".join(words)[:MAX_INDEXED]


def _split_after(text: str, size: int) -> tuple[str, str]:
    """In two, at the first white space after so many characters, if there is one near."""
    space = _SPACE.search(text, size, size + MAX_TERM_LENGTH)
    at = space.end() if space else size
    return text[:at], text[at:]


def article_terms(title: str, source: str) -> ArticleTerms:
    return ArticleTerms(index_text(title), index_text(source))


def query_terms(text: str) -> list[str]:
    """The words of a query. The last one may be a prefix."""
    return split_words(text[:1000])[:MAX_QUERY_TERMS]


def make_excerpt(source: str, words: Sequence[str]) -> list[ExcerptPart]:
    """The text around the first match, or its beginning."""
    text = source[:EXCERPT_SCAN_LIMIT]
    first = next((word.start() for word in _WORD.finditer(text) if _matches_query(word[0], words)), 0)
    start = _next_word_start(text, first - EXCERPT_CONTEXT) if first > EXCERPT_CONTEXT else 0
    window = " ".join(text[start : first + 2 * EXCERPT_CONTEXT].split())
    pieces, at = [], 0
    for word in _WORD.finditer(window):
        if _matches_query(word[0], words):
            pieces += [ExcerptPart(window[at : word.start()], found=False), ExcerptPart(word[0], found=True)]
            at = word.end()
    pieces.append(ExcerptPart(window[at:] + ("…" if first + 2 * EXCERPT_CONTEXT < len(source) else ""), found=False))
    if start > 0:
        pieces.insert(0, ExcerptPart("…", found=False))
    return [piece for piece in pieces if piece.text]


def _matches_query(word: str, words: Sequence[str]) -> bool:
    said = fold_text(word)
    return said in words or (bool(words) and said.startswith(words[-1]))


def _next_word_start(text: str, start: int) -> int:
    """Where the next word begins, so that none is cut."""
    space = text.find(" ", start)
    return start if space < 0 or space > start + EXCERPT_CONTEXT // 2 else space + 1
