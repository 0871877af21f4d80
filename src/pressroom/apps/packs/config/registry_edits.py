"""Changes of single documents in the text of a registry. What was written by hand beside them stays as it is."""

import json
from typing import Any

import msgspec

from pressroom.apps.packs.config.registry import RegistryEntry
from pressroom.errors import InvalidArgument


def read_documents(body: str) -> list[dict[str, Any]]:
    """The documents of a registry, whatever is wrong with them. Raises InvalidArgument for what is no list of objects."""
    try:
        items = json.loads(body) if body.strip() else []
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"the newest version of the registry is not JSON: {error}; mend its text first") from None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InvalidArgument("the newest version of the registry is not a list of documents; mend its text first")
    return items


def save_document(body: str, entry: RegistryEntry, *, replaces: str | None, place: int | None = None) -> str:
    """The text with a document added, or put where `replaces` stood, or at the number `place` (from 1)."""
    items = read_documents(body)
    written = msgspec.to_builtins(entry)
    at = len(items)
    if replaces is not None:
        at = _position(items, replaces)
        del items[at]
    elif any(item.get("doc_id") == entry.doc_id for item in items):
        raise InvalidArgument(f"there is a document {entry.doc_id!r} already")
    items.insert(at if place is None else max(0, place - 1), written)
    return _text(items)


def remove_document(body: str, doc_id: str) -> str:
    items = read_documents(body)
    del items[_position(items, doc_id)]
    return _text(items)


def find_document(body: str, doc_id: str) -> tuple[dict[str, Any], int]:
    """A document and its number, from 1."""
    items = read_documents(body)
    at = _position(items, doc_id)
    return items[at], at + 1


def _position(items: list[dict[str, Any]], doc_id: str) -> int:
    for at, item in enumerate(items):
        if item.get("doc_id") == doc_id:
            return at
    raise InvalidArgument(f"the registry has no document {doc_id[:64]!r}")


def _text(items: list[dict[str, Any]]) -> str:
    return json.dumps(items, indent=2, ensure_ascii=False) + "\n"
