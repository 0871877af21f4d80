"""A job's history as sentences, and its attempts, from its events."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

import msgspec

from pressroom.model import Event, Job, Tier
from pressroom.web.formatting import format_duration

MIN_RECENT_ATTEMPTS = 5  # attempts that are told in any case
MAX_NAMED_ITEMS = 5  # items of a run that are named; the others are counted

type Errors = Sequence[Mapping[str, Any]]


class HistoryLine(msgspec.Struct, frozen=True):
    """One line of the history. `tone` is good, bad, warn, run, or nothing in particular."""

    at: datetime
    since: timedelta  # from the first line
    words: str
    tone: str = ""
    attempt: int | None = None
    worker: str | None = None


class AttemptSummary(msgspec.Struct, frozen=True):
    """`ended` is None while it runs, or where its end is not among the events that are told."""

    number: int
    worker: str | None
    started: datetime
    ended: datetime | None = None
    outcome: str = ""
    errors: list[Mapping[str, Any]] = []

    @property
    def duration(self) -> timedelta | None:
        return None if self.ended is None else self.ended - self.started


_OUTCOME_TEXTS = {
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


def history_lines(events: Sequence[Event], started_at: datetime) -> list[HistoryLine]:
    """The lines of a history. A run of reports is one line: the last of them says it all."""
    moments = []
    for _, run in groupby(events, key=_group_key):
        group = list(run)
        last = group[-1]
        moments.append(
            HistoryLine(
                last.at,
                last.at - started_at,
                _describe_events(group),
                _event_tone(last),
                last.data.get("attempt"),
                last.data.get("worker"),
            )
        )
    return moments


def _group_key(event: Event) -> tuple[Any, ...]:
    match event.type:
        case "progress" | "joined":
            return (event.type,)
        case "item":
            return (event.type, event.data.get("noun"), event.data.get("state"))
        case _:
            return (event.id,)


def _event_tone(event: Event) -> str:
    if event.type == "item" and event.data.get("state") == "failed":
        return "bad"
    return _TONES.get(event.type, "")


def _describe_events(group: Sequence[Event]) -> str:
    event, data = group[-1], group[-1].data
    match event.type:
        case "queued":
            return "Submitted"
        case "joined":
            return _describe_joins(group)
        case "coalesced":
            return f"A newer payload of its key took its place: version {data.get('version')}"
        case "started":
            return f"Attempt {data.get('attempt')} started"
        case "phase":
            return f"Phase {data.get('phase')} began{_describe_progress(data)}"
        case "progress":
            return f"Progress{_describe_progress(data)}{f' ({len(group)} reports)' if len(group) > 1 else ''}"
        case "item":
            return _describe_items(group)
        case "retrying":
            wait = format_duration(data.get("wait"))
            return f"Attempt {data.get('attempt')} failed: {_error_sentence(data)} The next is due after {wait}."
        case "postponed":
            wait = format_duration(data.get("wait"))
            return f"No free capacity: {data.get('reason')}. It is tried again after {wait}, for free."
        case "released":
            return "Its worker stopped and gave it back; that costs no attempt"
        case "lost":
            return f"Its worker fell silent, and it went back to the queue (crash {data.get('crashes')})"
        case "cancelling":
            return f"Cancellation requested: {data.get('reason')}"
        case "cancelled":
            return f"Cancelled{_reason_suffix(data)}"
        case "completed":
            return "Completed"
        case "completed_with_errors":
            return f"Completed, but some of it went wrong: {_error_sentence(data)}"
        case "failed":
            return f"Failed for good: {_error_sentence(data)}"
        case _:
            return event.type.replace("_", " ").capitalize()


def _describe_joins(group: Sequence[Event]) -> str:
    tiers = {Tier(event.data.get("tier", Tier.BACKGROUND)).name.lower() for event in group}
    who = "Another submit" if len(group) == 1 else f"{len(group):,} more submits"
    return f"{who} of the same input joined it ({' and '.join(sorted(tiers))})"


def _describe_progress(data: Mapping[str, Any]) -> str:
    done, total, message = data.get("done"), data.get("total"), data.get("message")
    parts = [
        f"{done:,} of {total:,}" if done is not None and total is not None else "" if done is None else f"{done:,}",
        message or "",
    ]
    text = ", ".join(part for part in parts if part)
    return f": {text}" if text else ""


def _describe_items(group: Sequence[Event]) -> str:
    data = group[-1].data
    names = [str(event.data.get("name")) for event in group]
    listed = ", ".join(names[:MAX_NAMED_ITEMS]) + (
        f" and {len(names) - MAX_NAMED_ITEMS:,} more" if len(names) > MAX_NAMED_ITEMS else ""
    )
    error = data.get("error")
    text = f"{data.get('noun')} {data.get('state')}: {listed}{f' ({error})' if error else ''}"
    return text[:1].upper() + text[1:]


def _reason_suffix(data: Mapping[str, Any]) -> str:
    reason = data.get("reason") or (data.get("error") or {}).get("message")
    return f": {reason}" if reason else ""


def _error_sentence(data: Mapping[str, Any]) -> str:
    message = str((data.get("error") or {}).get("message") or "no reason was given")
    return message if message.endswith((".", "!", "?")) else f"{message}."


def summarise_attempts(events: Iterable[Event], errors: Errors) -> tuple[list[AttemptSummary], list[Mapping[str, Any]]]:
    """Attempts with their errors, and the errors that belong to none of them: those of workers that died."""
    attempts: list[AttemptSummary] = []
    for event in events:
        if event.type == "started":
            attempts.append(AttemptSummary(event.data.get("attempt", 1), event.data.get("worker"), event.at))
        elif attempts and attempts[-1].ended is None and event.type in _OUTCOME_TEXTS:
            attempts[-1] = msgspec.structs.replace(attempts[-1], ended=event.at, outcome=_OUTCOME_TEXTS[event.type])
    left = list(errors)
    for at, attempt in enumerate(attempts):
        if attempt.outcome in ("failed", "completed with errors", "was cancelled"):
            mine = [error for error in left if error.get("attempt") == attempt.number]
            left = [error for error in left if error.get("attempt") != attempt.number]
            attempts[at] = msgspec.structs.replace(attempt, errors=mine)
    return attempts, left


def select_attempts(attempts: Sequence[AttemptSummary]) -> list[AttemptSummary]:
    """Those with errors, and the latest: one that its worker gives back again and again has nothing to say each time."""
    return [attempt for at, attempt in enumerate(attempts) if attempt.errors or at >= len(attempts) - MIN_RECENT_ATTEMPTS]


def worker_display_name(name: str | None, *, everywhere: bool) -> str:
    """A worker's name begins with its host, which only callers of all organisations may see."""
    return (name or "") if everywhere else (name or "").rpartition(".")[2]


class ItemCounts(msgspec.Struct, frozen=True):
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
    items: ItemCounts | None = None


def progress_of(job: Job) -> Progress | None:
    """How far it is, by number or by named parts. None for a job that never said."""
    told = job.progress
    if told is None:
        return None if job.phase is None else Progress(job.phase, None, None, None)
    noun = next((name.removesuffix("_total") for name in told if name.endswith("_total")), None)
    if noun is None:
        return Progress(job.phase, told.get("message"), told.get("done"), told.get("total"))
    parts = [told.get(f"{noun}_{state}", []) for state in ("completed", "failed", "in_progress")]
    items = ItemCounts(noun, told[f"{noun}_total"], *parts)
    return Progress(job.phase, told.get("message"), len(items.completed) + len(items.failed), items.total, items)
