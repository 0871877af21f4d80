"""What a running job tells about itself. Every write names its claim; a worker that lost it is told so."""

from typing import Any

from pressroom.errors import InvalidArgument
from pressroom.model import Statement, Work
from pressroom.store.rows import compact
from pressroom.store.steps import now, record, require


def begin_phase(id: int, token: int, phase: str, progress: dict[str, Any]) -> Work[bool]:
    """Name the phase and start its progress anew. True if somebody asked to cancel the job."""
    moment = yield from now()
    rows = yield Statement("show_phase", {"id": id, "claim": token, "phase": phase, "progress": compact(progress)})
    (cancelled,) = require(rows, id)
    yield from record(id, "phase", {"phase": phase, **progress}, moment)
    return bool(cancelled)


def show(id: int, token: int, progress: dict[str, Any]) -> Work[bool]:
    moment = yield from now()
    rows = yield Statement("show_progress", {"id": id, "claim": token, "progress": compact(progress)})
    (cancelled,) = require(rows, id)
    yield from record(id, "progress", progress, moment)
    return bool(cancelled)


def begin_items(id: int, token: int, phase: str, noun: str, names: list[str], message: str | None) -> Work[bool]:
    """Begin a phase in which every named item is in progress."""
    progress = {"items": noun} | ({"message": message} if message else {})
    cancelled = yield from begin_phase(id, token, phase, progress)
    yield Statement("forget_items", {"id": id, "claim": token, "noun": noun})  # a phase that is begun again starts anew
    yield Statement("insert_items", {"id": id, "claim": token, "noun": noun, "names": compact(names)})
    return cancelled


def move_item(id: int, token: int, noun: str, name: str, state: str, error: str | None) -> Work[bool]:
    """Move one item out of `in_progress`, once."""
    moment = yield from now()
    (cancelled,) = require((yield Statement("check_claim", {"id": id, "claim": token})), id)
    params = {"id": id, "claim": token, "noun": noun, "name": name, "state": state, "error": error}
    if not (yield Statement("move_item", params)):
        raise InvalidArgument(f"there is no {noun} item {name!r} in progress; it was never begun, or it has been moved")
    data = {"noun": noun, "name": name, "state": state} | ({"error": error} if error else {})
    yield from record(id, "item", data, moment)
    return bool(cancelled)
