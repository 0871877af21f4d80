"""What routes of packs read from a request."""

import msgspec
from starlette.requests import Request

from pressroom.api.access import Caller
from pressroom.api.json_body import decode_json
from pressroom.api.problems import HttpError, request_id_of
from pressroom.apps.packs.actor import Actor

USER = "Pressroom-User"
UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
LONGEST_LINK = 999_999_999  # seconds


def decode_body[T](body: bytes, kind: type[T]) -> T:
    try:
        return decode_json(body, kind)
    except msgspec.ValidationError as error:
        raise HttpError(422, "invalid_body", str(error)) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise HttpError(400, "invalid_json", f"the body is not JSON: {error}") from None


def parse_flag(request: Request, name: str) -> bool:
    text = request.query_params.get(name, "false").lower()
    if text not in ("", "1", "true", "0", "false"):
        raise HttpError(422, "invalid_argument", f"{name} is true or false")
    return text in ("", "1", "true")


def trace_of(request: Request) -> dict[str, str]:
    return {"request_id": request_id_of(request)}


def actor_of(request: Request, caller: Caller) -> Actor:
    return Actor(name=caller.name, audit_org=caller.audit_org, request_id=request_id_of(request))


def user_of(request: Request) -> str | None:
    """The application's user for whom its server asks. Its token is trusted to say so."""
    return request.headers.get(USER) or None
