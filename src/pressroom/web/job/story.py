"""A job's history in plain words, and its attempts. Events go in, sentences come out."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

import msgspec

from pressroom.model import Event, Job, Tier
from pressroom.web.words import duration

LATEST = 5  # attempts that are told in any case
NAMED = 5  # items of a run that are named; the others are counted

type Errors = Sequence[Mapping[str, Any]]


class Moment(msgspec.Struct, frozen=True):
    """One line of the story. `tone` is good, bad, warn, run, or nothing in particular."""

    at: datetime
    since: timedelta  # from the first line
    words: str
    tone: str = ""
    attempt: int | None = None
    worker: str | None = None


class Attempt(msgspec.Struct, frozen=True):
    """`ended` is None while it runs, or where its end is not among the events that are told."""

    number: int
    worker: str | None
    started: datetime
    ended: datetime | None = None
    outcome: str = ""
    errors: list[Mapping[str, Any]] = []

    @property
    def took(self) -> timedelta | None:
        return None if self.ended is None else self.ended - self.started


_CLOSING = {
    "completed": "completed",
    "completed_with_errors": "completed with errors",
    "failed": "failed",
    "cancelled": "was cancelled",
    "retrying": "failed",
    "postponed": "found no room",
    "released": "was given back",
    "lost": "was lost with its worker",
}
_TONES = {
    "started": "run",
    "completed": "good",
    "completed_with_errors": "warn",
    "failed": "bad",
    "cancelled": "warn",
    "cancelling": "warn",
    "retrying": "bad",
    "lost": "bad",
    "postponed": "warn",
}


def told(events: Sequence[Event], begin: datetime) -> list[Moment]:
    """The lines of a history. A run of reports is one line: the last of them says it all."""
    moments = []
    for _, run in groupby(events, key=_alike):
        same = list(run)
        last = same[-1]
        moments.append(
            Moment(
                last.at,
                last.at - begin,
                _words(same),
                _tone(last),
                last.data.get("attempt"),
                last.data.get("worker"),
            )
        )
    return moments


def _alike(event: Event) -> tuple[Any, ...]:
    match event.type:
        case "progress" | "joined":
            return (event.type,)
        case "item":
            return (event.type, event.data.get("noun"), event.data.get("state"))
        case _:
            return (event.id,)


def _tone(event: Event) -> str:
    if event.type == "item" and event.data.get("state") == "failed":
        return "bad"
    return _TONES.get(event.type, "")


def _words(same: Sequence[Event]) -> str:
    event, data = same[-1], same[-1].data
    match event.type:
        case "queued":
            return "Submitted"
        case "joined":
            return _joined(same)
        case "coalesced":
            return f"A newer payload of its key took its place: version {data.get('version')}"
        case "started":
            return f"Attempt {data.get('attempt')} started"
        case "phase":
            return f"Phase {data.get('phase')} began{_progress(data)}"
        case "progress":
            return f"Progress{_progress(data)}{f' ({len(same)} reports)' if len(same) > 1 else ''}"
        case "item":
            return _items(same)
        case "retrying":
            return f"Attempt {data.get('attempt')} failed: {_message(data)} The next is due after {duration(data.get('wait'))}."
        case "postponed":
            return f"There was no room: {data.get('reason')}. It is tried again after {duration(data.get('wait'))}, for free."
        case "released":
            return "Its worker stopped and gave it back; that costs no attempt"
        case "lost":
            return f"Its worker fell silent, and it went back to the queue (crash {data.get('crashes')})"
        case "cancelling":
            return f"Told to stop: {data.get('reason')}"
        case "cancelled":
            return f"Cancelled{_because(data)}"
        case "completed":
            return "Completed"
        case "completed_with_errors":
            return f"Completed, but some of it went wrong: {_message(data)}"
        case "failed":
            return f"Failed for good: {_message(data)}"
        case _:
            return event.type.replace("_", " ").capitalize()


def _joined(same: Sequence[Event]) -> str:
    tiers = {Tier(event.data.get("tier", Tier.BACKGROUND)).name.lower() for event in same}
    who = "Another submit" if len(same) == 1 else f"{len(same):,} more submits"
    return f"{who} of the same input joined it ({' and '.join(sorted(tiers))})"


def _progress(data: Mapping[str, Any]) -> str:
    done, total, message = data.get("done"), data.get("total"), data.get("message")
    parts = [
        f"{done:,} of {total:,}" if done is not None and total is not None else "" if done is None else f"{done:,}",
        message or "",
    ]
    said = ", ".join(part for part in parts if part)
    return f": {said}" if said else ""


def _items(same: Sequence[Event]) -> str:
    data = same[-1].data
    names = [str(event.data.get("name")) for event in same]
    listed = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
    error = data.get("error")
    said = f"{data.get('noun')} {data.get('state')}: {listed}{f' ({error})' if error else ''}"
    return said[:1].upper() + said[1:]


def _because(data: Mapping[str, Any]) -> str:
    reason = data.get("reason") or (data.get("error") or {}).get("message")
    return f": {reason}" if reason else ""


def _message(data: Mapping[str, Any]) -> str:
    message = str((data.get("error") or {}).get("message") or "no reason was given")
    return message if message.endswith((".", "!", "?")) else f"{message}."


def attempts(events: Iterable[Event], errors: Errors) -> tuple[list[Attempt], list[Mapping[str, Any]]]:
    """Attempts with their errors, and the errors that belong to none of them: those of workers that died."""
    made: list[Attempt] = []
    for event in events:
        if event.type == "started":
            made.append(Attempt(event.data.get("attempt", 1), event.data.get("worker"), event.at))
        elif made and made[-1].ended is None and event.type in _CLOSING:
            made[-1] = msgspec.structs.replace(made[-1], ended=event.at, outcome=_CLOSING[event.type])
    left = list(errors)
    for at, attempt in enumerate(made):
        if attempt.outcome in ("failed", "completed with errors", "was cancelled"):
            mine = [error for error in left if error.get("attempt") == attempt.number]
            left = [error for error in left if error.get("attempt") != attempt.number]
            made[at] = msgspec.structs.replace(attempt, errors=mine)
    return made, left


def worth_telling(made: Sequence[Attempt]) -> list[Attempt]:
    """Those with errors, and the latest: one that its worker gives back again and again has nothing to say each time."""
    return [attempt for at, attempt in enumerate(made) if attempt.errors or at >= len(made) - LATEST]


def short_worker(name: str | None, *, everywhere: bool) -> str:
    """A worker's name begins with its host, which concerns nobody but those who run the whole place."""
    return (name or "") if everywhere else (name or "").rpartition(".")[2]


class Items(msgspec.Struct, frozen=True):
    noun: str
    total: int
    completed: list[str]
    failed: list[Mapping[str, Any]]
    in_progress: list[str]


class Progress(msgspec.Struct, frozen=True):
    phase: str | None
    message: str | None
    done: int | None
    total: int | None
    items: Items | None = None


def progress_of(job: Job) -> Progress | None:
    """How far it is, by number or by named parts. None for a job that never said."""
    told = job.progress
    if told is None:
        return None if job.phase is None else Progress(job.phase, None, None, None)
    noun = next((name.removesuffix("_total") for name in told if name.endswith("_total")), None)
    if noun is None:
        return Progress(job.phase, told.get("message"), told.get("done"), told.get("total"))
    parts = [told.get(f"{noun}_{state}", []) for state in ("completed", "failed", "in_progress")]
    items = Items(noun, told[f"{noun}_total"], *parts)
    return Progress(job.phase, told.get("message"), len(items.completed) + len(items.failed), items.total, items)
