"""Which fields a document needs that the data of a pack does not have. Pure, and for a thread: lists may be long."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pressroom.renderers.jinja.required import missing_fields

MOST_MISSING = 100


class FieldUse(msgspec.Struct, frozen=True):
    """A path that a template reads, as the jinja engine reports it: `person.name`, `items[].price`, `items[0]`."""

    path: str
    required: bool = True
    line: int | None = None
    template: str = ""


def find_missing(fields: Iterable[FieldUse], extra: Iterable[str], data: Mapping[str, Any]) -> list[str]:
    """The required paths, and the `extra` ones, that are not in the data: the first ones."""
    wanted = [{"path": one.path, "required": one.required} for one in fields]
    wanted += [{"path": path, "required": True} for path in extra]
    return missing_fields(wanted, data, MOST_MISSING)
