"""Which jobs a page is about: read from its address, checked, told in words, and written as an address again."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from pressroom.errors import NotFound
from pressroom.ids import parse_uid
from pressroom.model import Status, Tier
from pressroom.store.operators.search import SearchFilter
from pressroom.web.desk import refuse
from pressroom.web.words import exact

LONGEST = 512  # bytes of a name, as a submit allows for the longest
MOST_NAMED = 200  # jobs chosen one by one
DEFAULT_ORG = "-"  # how an address spells the organisation that has no name

_LENGTH = re.compile(r"(\d{1,6})\s*(s|m|min|h|d|w)", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_PRINT = re.compile(r"[0-9A-Za-z]{16}")
_TEXTS = ("kind", "subject", "key", "worker")
_ORDER = ("uid", "status", "kind", "tier", "org", "subject", "key", "parent", "worker", "failure", "from", "until")
_FOR_ALL_ORGS = ("org", "worker")  # workers' names tell of hosts

type Fields = Iterable[tuple[str, str]]
type Asked = dict[str, list[str]]


@dataclass(frozen=True)
class Part:
    """One condition in words, and the address without it."""

    words: str
    asked: Asked


@dataclass(frozen=True)
class Chosen:
    """`asked` is what the address says, in its own words; `wanted` are the jobs it means now."""

    asked: Asked
    wanted: SearchFilter

    @property
    def is_everything(self) -> bool:
        return not self.asked

    def value(self, name: str) -> str:
        return self.asked.get(name, [""])[0]

    def values(self, name: str) -> Sequence[str]:
        return self.asked.get(name, [])

    def parts(self) -> Iterator[Part]:
        for name, values in self.asked.items():
            for value in [", ".join(values)] if name == "uid" else values:
                rest = [one for one in values if one != value] if name != "uid" else []
                left = {other: rest if other == name else kept for other, kept in self.asked.items()}
                yield Part(self._words(name, value), {other: kept for other, kept in left.items() if kept})

    def in_words(self) -> str:
        if self.is_everything:
            return "all jobs, of every kind and status"
        conditions = [self._words(name, " or ".join(values)) for name, values in self.asked.items()]
        return f"jobs with {'; '.join(conditions)}"

    def frozen(self) -> "Chosen":
        """The same jobs, whenever it is read: times that were lengths are moments."""
        times = {"from": self.wanted.since, "until": self.wanted.until}
        fixed = {name: [moment.isoformat()] for name, moment in times.items() if moment is not None}
        return Chosen(self.asked | fixed, self.wanted)

    def _words(self, name: str, value: str) -> str:
        match name:
            case "uid":
                count = len(self.wanted.uids)
                return f"{count} selected {'job' if count == 1 else 'jobs'}"
            case "status":
                return f"status {value.replace('_', ' ')}"
            case "org":
                return "the default organisation" if value == DEFAULT_ORG else f"organisation {value}"
            case "from" if self.wanted.since is not None:
                return f"submitted since {exact(self.wanted.since)}"
            case "until" if self.wanted.until is not None:
                return f"submitted before {exact(self.wanted.until)}"
            case _:
                return f"{name} {value}"


def read(fields: Fields, *, org_id: str | None, now: datetime) -> Chosen:
    """`org_id` is whose jobs the reader sees. Raises HttpError that says what is wrong, and what would be right."""
    asked = _asked(fields)
    if org_id is not None:
        for name in _FOR_ALL_ORGS:
            if name in asked:
                raise refuse(f"{name} is only for those who see all organisations; leave it out")
    since, until = (_moment(asked, name, now) for name in ("from", "until"))
    if since is not None and until is not None and since >= until:
        raise refuse(f"nothing is submitted since {exact(since)} and before {exact(until)}; let `from` be the earlier one")
    wanted = SearchFilter(
        uids=_uids(asked),
        status=tuple(_status(name) for name in asked.get("status", ())),
        tier=_tier(asked),
        org_id=_org(asked) if org_id is None else org_id,
        parent=_parent(asked),
        failure=_failure(asked),
        since=since,
        until=until,
        **{name: asked[name][0] for name in _TEXTS if name in asked},
    )
    return Chosen(asked, wanted)


def number(text: str, name: str) -> int:
    """A job's number as an address carries it, which we wrote ourselves."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise refuse(f"{name} is a number, as the page's own links give it; not {text[:40]!r}")
    return int(text)


def _asked(fields: Fields) -> Asked:
    """What filters, in our order. An empty field of a form asks for nothing; of several, the last counts."""
    given: dict[str, list[str]] = {}
    for name, value in fields:
        if name in _ORDER and value.strip():
            given.setdefault(name, []).append(_text(name, value.strip()))
    several = ("status", "uid")
    return {name: [*dict.fromkeys(given[name])] if name in several else given[name][-1:] for name in _ORDER if name in given}


def _text(name: str, value: str) -> str:
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise refuse(f"{name} holds a character that no name has")
    if len(value.encode()) > LONGEST:
        raise refuse(f"{name} is longer than {LONGEST} bytes, and no name is")
    return value


def _status(name: str) -> Status:
    try:
        return Status(name)
    except ValueError:
        raise refuse(f"there is no status {name[:40]!r}; it is one of {', '.join(Status)}") from None


def _tier(asked: Asked) -> Tier | None:
    if "tier" not in asked:
        return None
    try:
        return Tier[asked["tier"][0].upper()]
    except KeyError:
        raise refuse(f"there is no tier {asked['tier'][0][:40]!r}; it is interactive or background") from None


def _org(asked: Asked) -> str | None:
    if "org" not in asked:
        return None
    return "" if asked["org"][0] == DEFAULT_ORG else asked["org"][0]


def _uids(asked: Asked) -> tuple[str, ...]:
    uids = tuple(_uid(text) for text in asked.get("uid", ()))
    if len(uids) > MOST_NAMED:
        raise refuse(f"{len(uids):,} jobs were selected one by one; up to {MOST_NAMED} may be, more by a filter")
    return uids


def _parent(asked: Asked) -> str | None:
    return _uid(asked["parent"][0]) if "parent" in asked else None


def _uid(text: str) -> str:
    try:
        return parse_uid(text)
    except NotFound as reason:
        raise refuse(str(reason)) from None


def _failure(asked: Asked) -> str | None:
    if "failure" not in asked:
        return None
    if not _PRINT.fullmatch(asked["failure"][0]):
        raise refuse("failure is the 16 letters by which the failures page names a group")
    return asked["failure"][0]


def _moment(asked: Asked, name: str, now: datetime) -> datetime | None:
    """An ISO date or time, in UTC unless it says otherwise, or a length: so long ago. A day's `until` is its end."""
    if name not in asked:
        return None
    text = asked[name][0]
    try:
        if length := _LENGTH.fullmatch(text):
            return now - timedelta(**{_UNITS[length[2].lower()]: int(length[1])})
        moment = datetime.fromisoformat(text)
        if len(text) <= 10 and name == "until":
            moment = datetime.combine(moment, time()) + timedelta(days=1)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC) if 1970 <= moment.year < 9999 else _too_far(name)
    except (ValueError, OverflowError):
        right = "a time such as 2026-01-31 or 2026-01-31T14:00 (UTC), or a length such as 30min, 2h or 3d"
        raise refuse(f"{name} is {right}; not {text[:40]!r}") from None


def _too_far(name: str) -> Any:
    raise refuse(f"{name} lies outside of the years 1970 to 9998")
