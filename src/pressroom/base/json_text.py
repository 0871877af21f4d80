"""JSON that comes back as it went in, on both databases."""

import json
import re
from typing import Any

from pressroom.errors import InvalidPayload, PayloadTooLarge

# PostgreSQL cannot keep U+0000 in text or jsonb. A backslash that is itself escaped does not count.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Any, *, limit: int, what: str = "the payload") -> str:
    """Compact JSON text of at most `limit` bytes. Raises InvalidPayload or PayloadTooLarge."""
    if value is None:
        return "null"
    try:
        text = _encoder.encode(value)
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise InvalidPayload(f"{what} holds half of a surrogate pair, which is not valid Unicode") from None
    except (TypeError, ValueError, RecursionError) as reason:
        raise InvalidPayload(f"{what} is not JSON: {reason}") from None
    if size > limit:
        raise PayloadTooLarge(size, limit)
    if "\\u0000" in text and _NUL.search(text):
        raise InvalidPayload(f"{what} holds a NUL character (U+0000), which cannot be stored")
    return text


def canonical(value: Any) -> str:
    """The same text for equal values, whatever the order of their keys: for hashing."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


_decoder = json.JSONDecoder()


def decode(text: str) -> Any:
    """What `encode` was given. It wrote no white space around the value, so none is looked for."""
    return _decoder.raw_decode(text)[0]
