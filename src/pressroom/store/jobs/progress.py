"""What a running job writes: progress, and rows of its application. A write names its claim and is refused once it is lost."""

from typing import Any, NamedTuple

from pressroom import failpoints
from pressroom.errors import Cancelled, InvalidArgument
from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now, record, require_claim


def begin_phase(id: int, token: int, phase: str, progress: dict[str, Any]) -> Work[bool]:
    """Name the phase and start its progress anew. True if a cancel was requested."""
    moment = yield from now()
    rows = yield Statement("show_phase", {"id": id, "claim": token, "phase": phase, "progress": compact(progress)})
    (cancelled,) = require_claim(rows, id)
    yield from record(id, "phase", {"phase": phase, **progress}, moment)
    return bool(cancelled)


def save_progress(id: int, token: int, progress: dict[str, Any]) -> Work[bool]:
    moment = yield from now()
    rows = yield Statement("show_progress", {"id": id, "claim": token, "progress": compact(progress)})
    (cancelled,) = require_claim(rows, id)
    yield from record(id, "progress", progress, moment)
    return bool(cancelled)


def begin_items(id: int, token: int, phase: str, noun: str, names: list[str], more: dict[str, Any] | None) -> Work[bool]:
    """Begin a phase in which every named item is in progress. `more` are further fields of its progress."""
    cancelled = yield from begin_phase(id, token, phase, {"items": noun, **(more or {})})
    yield Statement("forget_items", {"id": id, "claim": token, "noun": noun})  # a phase that is begun again starts anew
    yield Statement("insert_items", {"id": id, "claim": token, "noun": noun, "names": compact(names)})
    return cancelled


def move_item(id: int, token: int, noun: str, name: str, state: str, error: str | None) -> Work[bool]:
    """Move one item out of `in_progress`, once."""
    moment = yield from now()
    (cancelled,) = require_claim((yield Statement("check_claim", {"id": id, "claim": token})), id)
    params = {"id": id, "claim": token, "noun": noun, "name": name, "state": state, "error": error}
    if not (yield Statement("move_item", params)):
        raise InvalidArgument(f"there is no {noun} item {name!r} in progress; it was never begun, or it has been moved")
    data = {"noun": noun, "name": name, "state": state} | ({"error": error} if error else {})
    yield from record(id, "item", data, moment)
    return bool(cancelled)


class ItemMove(NamedTuple):
    noun: str
    name: str
    state: str
    error: str | None


def write_with_claim[T](id: int, token: int, unit: Work[T], item: ItemMove | None) -> Work[T]:
    """Run an application's unit of work under the claim of a job, and move an item with it. Returns the unit's value.

    Raises ClaimLost if the job is no longer in progress under this claim, and Cancelled if it was asked to stop.
    The check locks the job until the commit, so that the claim cannot be lost while the unit runs.
    """
    (cancelled,) = require_claim((yield Statement("check_claim", {"id": id, "claim": token})), id)
    if cancelled:
        raise Cancelled
    value = yield from unit
    failpoints.hit("write.unit_done")
    if item is not None:
        yield from move_item(id, token, *item)
    return value
