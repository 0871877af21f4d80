"""`--set NAME=VALUE`: fields of a request, as JSON, as a word, or from a file."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import msgspec

from pressroom.errors import InvalidArgument


def add_set_argument(parser: ArgumentParser, fields: type[msgspec.Struct], left_out: tuple[str, ...] = ()) -> None:
    names = ", ".join(field for field in fields.__struct_fields__ if field not in left_out)
    parser.add_argument(
        "--set",
        dest="fields",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"a field: JSON, a word, or @FILE with JSON; may be repeated. Fields: {names}",
    )


def read_fields(given: list[str]) -> dict[str, Any]:
    """Raises InvalidArgument."""
    return dict(map(_read_field, given))


def convert[T](fields: dict[str, Any], to: type[T]) -> T:
    """Raises InvalidArgument, with the field and what it may be."""
    try:
        return msgspec.convert(fields, to)
    except msgspec.ValidationError as reason:
        raise InvalidArgument(str(reason)) from None


def _read_field(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidArgument(f"--set {text!r} is not NAME=VALUE")
    if value.startswith("@"):
        return name, _read_file(Path(value[1:]))
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _read_file(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as reason:
        raise InvalidArgument(f"{path} cannot be read: {reason.strerror}") from None
    except UnicodeDecodeError as reason:
        raise InvalidArgument(f"{path} is not UTF-8: byte {reason.start}") from None
    except json.JSONDecodeError as reason:
        raise InvalidArgument(f"{path} is not JSON: line {reason.lineno}, column {reason.colno}: {reason.msg}") from None
    except RecursionError:
        raise InvalidArgument(f"{path} is nested too deeply") from None
