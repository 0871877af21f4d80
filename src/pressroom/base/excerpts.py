"""Excerpts of a text around what was searched for."""

from collections.abc import Sequence
from typing import NamedTuple

from pressroom.base.search_terms import WORD, fold_text

EXCERPT_SCAN_LIMIT = 50_000  # characters of a text, for an excerpt
EXCERPT_CONTEXT = 90  # characters on either side of what was found


class ExcerptPart(NamedTuple):
    """Of an excerpt; `found` if it is one of the words of the query."""

    text: str
    found: bool


def make_excerpt(source: str, words: Sequence[str]) -> list[ExcerptPart]:
    """The text around the first match, or its beginning."""
    text = source[:EXCERPT_SCAN_LIMIT]
    first = next((word.start() for word in WORD.finditer(text) if _matches_query(word[0], words)), 0)
    start = _next_word_start(text, first - EXCERPT_CONTEXT) if first > EXCERPT_CONTEXT else 0
    window = " ".join(text[start : first + 2 * EXCERPT_CONTEXT].split())
    pieces, at = [], 0
    for word in WORD.finditer(window):
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
