"""Which fields that a template needs are missing from some data. Needs no template engine."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

_STEP = re.compile(r"\[(-?\d*)\]|\.?([^.\[\]]+)")


def missing_fields(fields: Iterable[Mapping[str, Any]], data: Mapping[str, Any], most: int | None = None) -> list[str]:
    """Of the `fields` in the engine's json, the required ones that the data lacks: `items[].name` may be `items[2].name`. No
    more than `most` are looked for."""
    found: dict[str, None] = {}
    for field in fields:
        for path in _missing(_STEP.findall(field["path"]), data, "") if field["required"] else ():
            found[path] = None
            if len(found) == most:
                return list(found)
    return list(found)


def _missing(steps: list[tuple[str, str]], value: Any, path: str) -> Iterator[str]:
    if not steps:
        return
    (index, name), *rest = steps
    if name == "*":
        for key, each in value.items() if isinstance(value, Mapping) else ():
            yield from _missing(rest, each, f"{path}.{key}")
    elif name:
        here = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and name in value:
            yield from _missing(rest, value[name], here)
        else:
            yield here + _written(rest)
    elif index:
        try:
            yield from _missing(rest, value[int(index)], f"{path}[{index}]")
        except (LookupError, TypeError):
            yield f"{path}[{index}]{_written(rest)}"
    else:
        for number, each in enumerate(value) if isinstance(value, list) else ():
            yield from _missing(rest, each, f"{path}[{number}]")


def _written(steps: Iterable[tuple[str, str]]) -> str:
    """As far as it is one path."""
    known = takewhile(lambda step: step[1] != "*" and any(step), steps)
    return "".join(f".{name}" if name else f"[{index}]" for index, name in known)
