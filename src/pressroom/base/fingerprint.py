"""The name of an input: equal inputs have equal fingerprints, different inputs never do.

Each field goes in with its name and its length, so that no field can run into the next. Nothing is normalised first:
two sources that differ by one space are two inputs.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from pressroom.base.json_text import canonical
from pressroom.definitions import Kind
from pressroom.errors import InvalidArgument

_DOMAIN = b"pressroom1\0"

_INPUT = "input "  # in front of the names that a caller gives to fields: none can pass for the org, the kind or its version


class Fingerprint(msgspec.Struct, frozen=True):
    digest: str
    fields: dict[str, str]  # the name of each field with a short digest of its value, to explain a miss

    def differs_from(self, other: Mapping[str, str]) -> list[str]:
        names = self.fields.keys() | other.keys()
        return sorted(name.removeprefix(_INPUT) for name in names if self.fields.get(name) != other.get(name))


def fingerprint_input(kind: Kind, org_id: str, fields: Mapping[str, Any]) -> Fingerprint:
    """The fingerprint of what a job of this kind and organisation is made from. Raises InvalidArgument."""
    ours = {"org": org_id, "kind": kind.name, "version": kind.version}
    try:
        return fingerprint(ours | {f"{_INPUT}{name}": value for name, value in fields.items()})
    except (TypeError, ValueError, RecursionError) as reason:
        raise InvalidArgument(f"a fingerprint's fields are bytes, text or JSON: {reason}") from None


def fingerprint(fields: Mapping[str, Any]) -> Fingerprint:
    whole = hashlib.sha256(_DOMAIN)
    short = {}
    for name in sorted(fields):
        value = _canonical_bytes(fields[name])
        for part in (name.encode(), value):
            whole.update(len(part).to_bytes(8))
            whole.update(part)
        short[name] = hashlib.sha256(value).hexdigest()[:16]
    return Fingerprint(whole.hexdigest(), short)


def _canonical_bytes(value: Any) -> bytes:
    """A tag in front keeps a string apart from the bytes, or the JSON, that happen to look like it."""
    match value:
        case bytes():
            return b"b" + value
        case str():
            return b"s" + value.encode()
        case _:
            return b"j" + canonical(value).encode()
