"""What the routes read from a request."""

import re
from typing import Any

from starlette.requests import Request

from pressroom.api import json_body
from pressroom.api.paging import NUMBER, cursor_parameter, parse_cursor
from pressroom.api.problems import HttpError, request_id_of
from pressroom.api.schema import header, path, query
from pressroom.apps.docs.http.problems import Place, place_in_body

MOST, USUAL = 100, 25
LIMIT = query("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL}, "How many")
UID = "[0-9A-Za-z]{26}"
SLUG = "[A-Za-z0-9][A-Za-z0-9-]{0,127}"
UID_CURSOR, SLUG_CURSOR, NUMBER_CURSOR = (cursor_parameter(pattern) for pattern in (UID, SLUG, NUMBER))
IF_NONE_MATCH = header("If-None-Match", "The tag of what you have")
BUILD_ID = "01KAD3V6WQ7N2X8M4ZJ5T9RHBC"
ORG = path("org", "acme", "The organisation")
PROJECT = path("project", "guide", "The project")
BUILD = path("build", BUILD_ID, "The build's id; case does not count")
EDITION = path("edition", "main", "The edition; case does not count")

_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_FLAG = ("", "1", "true", "0", "false")
FLAG: dict[str, Any] = {"enum": [*_FLAG]}


class MisplacedValue(HttpError):
    """What is wrong is at `loc`."""

    def __init__(self, status: int, code: str, message: str, loc: Place) -> None:
        super().__init__(status, code, message)
        self.loc = loc


async def decode_body[T](request: Request, kind: type[T]) -> T:
    """Raises HttpError for what is no JSON, has an unknown field, or a value of another type."""
    body = await request.body()
    if _ESCAPED_NUL.search(body):
        raise MisplacedValue(422, "invalid_argument", "a text in the body has a NUL", ["body"])
    try:
        return json_body.decode_body(request, body, kind)
    except HttpError as error:
        raise MisplacedValue(error.status, error.code, str(error), place_in_body(str(error))) from None


def parse_limit(request: Request, most: int = MOST, usual: int = USUAL) -> int:
    given = request.query_params.get("limit", str(usual))
    if not (given.isascii() and given.isdigit() and len(given) < 10 and 1 <= int(given) <= most):
        raise _wrong_query("limit", f"limit is a whole number from 1 to {most}")
    return int(given)


def parse_uid_cursor(request: Request) -> str:
    return (parse_cursor(request, UID) or "").upper()


def parse_slug_cursor(request: Request) -> str:
    return parse_cursor(request, SLUG) or ""


def parse_number_cursor(request: Request) -> int | None:
    given = parse_cursor(request, NUMBER)
    return None if given is None else int(given)


def parse_choice(request: Request, name: str, choices: tuple[str, ...], default: str = "") -> str:
    given = request.query_params.get(name)
    if given is None:
        return default
    if given not in choices:
        raise _wrong_query(name, f"{name} is one of {', '.join(choices)}")
    return given


def parse_flag(request: Request, name: str) -> bool:
    given = request.query_params.get(name, "false").lower()
    if given not in _FLAG:
        raise _wrong_query(name, f"{name} is true or false")
    return given in ("", "1", "true")


def trace_of(request: Request) -> dict[str, str]:
    return {"request_id": request_id_of(request)}


def _wrong_query(name: str, message: str) -> MisplacedValue:
    return MisplacedValue(422, "invalid_argument", message, ["query", name])
