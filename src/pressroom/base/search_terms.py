"""Terms of a search index: lower case, no accents, nothing but letters and digits. Both databases are given the same."""

import re

from pressroom.base.combining_marks import decompose_without_marks

MAX_INDEXED = 200_000  # characters of a text, in words
MAX_QUERY_TERMS = 20
MAX_TERM_LENGTH = 100  # letters of a word; PostgreSQL keeps none that is much longer
FOLD_CHUNK = 20_000  # characters that are folded at once

_SPACE = re.compile(r"\s")
WORD = re.compile(rf"[^\W_]{{1,{MAX_TERM_LENGTH}}}")
_ASCII_SEPARATORS_AS_SPACES = bytes(byte if byte > 127 or chr(byte).isalnum() else ord(" ") for byte in range(256))


def fold_text(text: str) -> str:
    """Without accents and in small letters, whatever the alphabet."""
    if text.isascii():
        return text.lower()
    return decompose_without_marks(text.casefold())


def split_words(text: str) -> list[str]:
    """As `WORD` finds them. Most lie between white space and ASCII punctuation, where `split` is much faster."""
    data = fold_text(text).encode(errors="surrogatepass").translate(_ASCII_SEPARATORS_AS_SPACES)
    parts = data.decode(errors="surrogatepass").split()
    if data.isascii() and max(map(len, parts), default=0) <= MAX_TERM_LENGTH:
        return parts
    words: list[str] = []
    for part in parts:
        if len(part) <= MAX_TERM_LENGTH and part.isalnum():
            words.append(part)
        else:
            words += WORD.findall(part)
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


def query_terms(text: str) -> list[str]:
    """The words of a query. The last one may be a prefix."""
    return split_words(text[:1000])[:MAX_QUERY_TERMS]
