"""The search index of packs: units of work, and the words that a pack is found by."""

from collections.abc import Iterator, Sequence
from json import loads
from typing import Any

from pressroom.base.search_terms import MAX_INDEXED, index_text
from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact


def data_words(data: dict[str, Any]) -> str:
    """The words of all texts and numbers of a pack's data, without the names of its fields."""
    texts: list[str] = []
    size = 0
    for text in _texts_in(data):
        texts.append(text)
        size += len(text)
        if size > MAX_INDEXED:
            break
    return index_text(" ".join(texts))


def _texts_in(data: Any) -> Iterator[str]:
    """In their order. Without recursion: the data is a caller's."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield str(value)


def save_words(pack: str, title: str, user_id: str, session_id: str, words: str) -> Work[None]:
    """`words` are those of the data. In the transaction that saves the pack. A session that is the pack's own has no words."""
    others = index_text(user_id if session_id == pack else f"{user_id} {session_id}")
    yield Statement("packs.save_pack_words", {"pack": pack, "title": index_text(title), "words": f"{others} {words}".strip()})


def index_packs(limit: int) -> Work[int]:
    """Add packs that are missing from the index. Returns how many."""
    rows = yield Statement("packs.list_packs_without_words", {"limit": limit})
    for pack, title, user_id, session_id, body in rows:
        yield from save_words(pack, title, user_id, session_id, data_words(loads(body)))
    return len(rows)


def search_titles(org_id: str, terms: Sequence[str], limit: int) -> Work[list[tuple[str, str]]]:
    """Ids and titles of packs whose titles have all of these words; the last may be a prefix."""
    place = {"org_id": org_id, "words": compact(list(terms)), "limit": limit}
    return [(pack, title) for pack, title in (yield Statement("packs.search_pack_titles", place))]
