"""Turn what stands in a file, a variable or a flag into the type of a setting. A ValueError says what was expected."""

from collections.abc import Callable
from typing import Any

type Reader = Callable[[Any], Any]


def read_whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("a whole number")
    return int(value)


def read_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a number")
    return float(value)


def read_milliseconds(value: Any) -> float:
    return read_number(value) / 1000


def read_text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text that is not empty")
    return value


def read_boolean(value: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError("true or false")


def read_names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(filter(None, (name.strip() for name in value.split(","))))
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ValueError("a list of names")


def read_sqlite_file(value: Any) -> str:
    return f"sqlite:///{read_text(value)}"


def describe_expected(reason: ValueError) -> str:
    """What a value should have been, for the message of a problem."""
    text = str(reason)
    return "a number" if "convert" in text or "literal" in text else text


READERS: dict[Any, Reader] = {
    int: read_whole_number,
    int | None: read_whole_number,
    float: read_number,
    str: read_text,
    bool: read_boolean,
    tuple[str, ...]: read_names,
}
