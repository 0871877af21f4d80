"""How long a caller wants to wait: `?mode=sync`, `?wait=N`, `Prefer: wait=N`, `Prefer: respond-async`."""

import re

import msgspec
from starlette.requests import Request

from pressroom.api.problems import HttpError

LONGEST = 60.0
SYNC = 30.0

_PREFERENCE = re.compile(r'\s*([a-z-]+)\s*(?:=\s*"?([^",;]*)"?)?', re.IGNORECASE)


class Patience(msgspec.Struct, frozen=True):
    """`seconds` to wait, 0 for not at all. `applied` is the preference that was followed, to be told."""

    seconds: float = 0.0
    applied: str | None = None
    sync: bool = False  # an answer is wanted, not a job: past the time it is an error


def patience_of(request: Request) -> Patience:
    mode = request.query_params.get("mode")
    if mode == "sync":
        return Patience(SYNC, sync=True)
    if (asked := request.query_params.get("wait")) is not None:
        return Patience(_seconds(asked))
    preferences = {
        found[1].lower(): found[2]
        for part in ",".join(request.headers.getlist("prefer")).split(",")
        if (found := _PREFERENCE.match(part))
    }
    if "wait" in preferences:
        try:
            seconds = min(LONGEST, max(0.0, float(preferences["wait"] or 0)))
        except ValueError:
            return Patience()  # a preference that cannot be understood is not followed
        return Patience(seconds, f"wait={seconds:g}")
    if "respond-async" in preferences:
        return Patience(0.0, "respond-async")
    return Patience()


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?", text):
        raise HttpError(422, "invalid_argument", f"wait is a number of seconds, of which at most {LONGEST:g} are waited")
    return min(LONGEST, float(text))
