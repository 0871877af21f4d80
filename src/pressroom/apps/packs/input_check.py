"""Which fields that a template reads the data of a pack does not have. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

MOST_MISSING = 100


class FieldUse(msgspec.Struct, frozen=True):
    """A path that a template reads, as the jinja engine reports it: `person.name`, `items[].price`."""

    path: str
    required: bool = True
    line: int | None = None
    template: str = ""


def find_missing(fields: Iterable[FieldUse], extra: Iterable[str], data: Any) -> list[str]:
    """The required paths, and the `extra` ones, that are not in the data. Of a list, the first item that lacks one is named."""
    wanted = dict.fromkeys([*(one.path for one in fields if one.required), *extra])
    missing = dict.fromkeys(path for wish in wanted for path in _missing_at(wish.split("."), data, ""))
    return list(missing)[:MOST_MISSING]


def _missing_at(parts: list[str], value: Any, before: str) -> Iterator[str]:
    if not parts:
        return
    name, is_list = parts[0].removesuffix("[]"), parts[0].endswith("[]")
    here = f"{before}.{name}" if before else name
    if not isinstance(value, dict) or name not in value:
        yield here
    elif not is_list:
        yield from _missing_at(parts[1:], value[name], here)
    elif not isinstance(value[name], list):
        yield f"{here}[]"
    else:
        for place, item in enumerate(value[name]):
            found = list(_missing_at(parts[1:], item, f"{here}[{place}]"))
            if found:
                yield from found
                return
