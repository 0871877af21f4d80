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
from pressroom.web.formatting import format_time
from pressroom.web.site import page_error

MAX_TEXT_BYTES = 512  # bytes of a name, as a submit allows for the longest
MAX_SELECTED = 200  # jobs chosen one by one
DEFAULT_ORG = "-"  # how an address spells the organisation that has no name

_TIME_SPAN = re.compile(r"(\d{1,6})\s*(s|m|min|h|d|w)", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FAILURE_SIGNATURE = re.compile(r"[0-9A-Za-z]{16}")
_TEXT_FIELDS = ("kind", "subject", "key", "worker")
_FIELD_ORDER = ("uid", "status", "kind", "tier", "org", "subject", "key", "parent", "worker", "failure", "from", "until")
_ALL_ORGS_ONLY = ("org", "worker")  # workers' names tell of hosts

type Fields = Iterable[tuple[str, str]]
type FilterFields = dict[str, list[str]]


@dataclass(frozen=True)
class FilterCondition:
    """One condition in words, and the address without it."""

    words: str
    fields: FilterFields


@dataclass(frozen=True)
class JobSelection:
    """`asked` is what the address says, in its own words; `wanted` are the jobs it means now."""

    fields: FilterFields
    filter: SearchFilter

    @property
    def is_everything(self) -> bool:
        return not self.fields

    def value(self, name: str) -> str:
        return self.fields.get(name, [""])[0]

    def values(self, name: str) -> Sequence[str]:
        return self.fields.get(name, [])

    def conditions(self) -> Iterator[FilterCondition]:
        for name, values in self.fields.items():
            for value in [", ".join(values)] if name == "uid" else values:
                rest = [one for one in values if one != value] if name != "uid" else []
                left = {other: rest if other == name else kept for other, kept in self.fields.items()}
                yield FilterCondition(
                    self._describe_condition(name, value), {other: kept for other, kept in left.items() if kept}
                )

    def describe(self) -> str:
        if self.is_everything:
            return "all jobs, of every kind and status"
        conditions = [self._describe_condition(name, " or ".join(values)) for name, values in self.fields.items()]
        return f"jobs with {'; '.join(conditions)}"

    def with_fixed_times(self) -> "JobSelection":
        """The same jobs, whenever it is read: times that were lengths are moments."""
        times = {"from": self.filter.since, "until": self.filter.until}
        fixed = {name: [moment.isoformat()] for name, moment in times.items() if moment is not None}
        return JobSelection(self.fields | fixed, self.filter)

    def _describe_condition(self, name: str, value: str) -> str:
        match name:
            case "uid":
                count = len(self.filter.uids)
                return f"{count} selected {'job' if count == 1 else 'jobs'}"
            case "status":
                return f"status {value.replace('_', ' ')}"
            case "org":
                return "the default organisation" if value == DEFAULT_ORG else f"organisation {value}"
            case "from" if self.filter.since is not None:
                return f"submitted since {format_time(self.filter.since)}"
            case "until" if self.filter.until is not None:
                return f"submitted before {format_time(self.filter.until)}"
            case _:
                return f"{name} {value}"


def parse_selection(fields: Fields, *, org_id: str | None, now: datetime) -> JobSelection:
    """`org_id` is whose jobs the reader sees. Raises HttpError that says what is wrong, and what would be right."""
    fields_by_name = _filter_fields(fields)
    if org_id is not None:
        for name in _ALL_ORGS_ONLY:
            if name in fields_by_name:
                raise page_error(f"{name} is only for those who see all organisations; leave it out")
    since, until = (_parse_time(fields_by_name, name, now) for name in ("from", "until"))
    if since is not None and until is not None and since >= until:
        raise page_error(
            f"nothing is submitted since {format_time(since)} and before {format_time(until)}; let `from` be the earlier one"
        )
    filter = SearchFilter(
        uids=_parse_uids(fields_by_name),
        status=tuple(_parse_status(name) for name in fields_by_name.get("status", ())),
        tier=_parse_tier(fields_by_name),
        org_id=_parse_org(fields_by_name) if org_id is None else org_id,
        parent=_parse_parent(fields_by_name),
        failure=_parse_failure(fields_by_name),
        since=since,
        until=until,
        **{name: fields_by_name[name][0] for name in _TEXT_FIELDS if name in fields_by_name},
    )
    return JobSelection(fields_by_name, filter)


def parse_number(text: str, name: str) -> int:
    """A job's number as an address carries it, which we wrote ourselves."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise page_error(f"{name} is a number, as the page's own links give it; not {text[:40]!r}")
    return int(text)


def _filter_fields(fields: Fields) -> FilterFields:
    """What filters, in our order. An empty field of a form asks for nothing; of several, the last counts."""
    given: dict[str, list[str]] = {}
    for name, value in fields:
        if name in _FIELD_ORDER and value.strip():
            given.setdefault(name, []).append(_check_text(name, value.strip()))
    several = ("status", "uid")
    return {
        name: [*dict.fromkeys(given[name])] if name in several else given[name][-1:] for name in _FIELD_ORDER if name in given
    }


def _check_text(name: str, value: str) -> str:
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise page_error(f"{name} holds a character that no name has")
    if len(value.encode()) > MAX_TEXT_BYTES:
        raise page_error(f"{name} is longer than {MAX_TEXT_BYTES} bytes, and no name is")
    return value


def _parse_status(name: str) -> Status:
    try:
        return Status(name)
    except ValueError:
        raise page_error(f"there is no status {name[:40]!r}; it is one of {', '.join(Status)}") from None


def _parse_tier(fields_by_name: FilterFields) -> Tier | None:
    if "tier" not in fields_by_name:
        return None
    try:
        return Tier[fields_by_name["tier"][0].upper()]
    except KeyError:
        raise page_error(f"there is no tier {fields_by_name['tier'][0][:40]!r}; it is interactive or background") from None


def _parse_org(fields_by_name: FilterFields) -> str | None:
    if "org" not in fields_by_name:
        return None
    return "" if fields_by_name["org"][0] == DEFAULT_ORG else fields_by_name["org"][0]


def _parse_uids(fields_by_name: FilterFields) -> tuple[str, ...]:
    uids = tuple(_parse_uid(text) for text in fields_by_name.get("uid", ()))
    if len(uids) > MAX_SELECTED:
        raise page_error(f"{len(uids):,} jobs were selected one by one; up to {MAX_SELECTED} may be, more by a filter")
    return uids


def _parse_parent(fields_by_name: FilterFields) -> str | None:
    return _parse_uid(fields_by_name["parent"][0]) if "parent" in fields_by_name else None


def _parse_uid(text: str) -> str:
    try:
        return parse_uid(text)
    except NotFound as reason:
        raise page_error(str(reason)) from None


def _parse_failure(fields_by_name: FilterFields) -> str | None:
    if "failure" not in fields_by_name:
        return None
    if not _FAILURE_SIGNATURE.fullmatch(fields_by_name["failure"][0]):
        raise page_error("failure is the 16 letters by which the failures page names a group")
    return fields_by_name["failure"][0]


def _parse_time(fields_by_name: FilterFields, name: str, now: datetime) -> datetime | None:
    """An ISO date or time, in UTC unless it says otherwise, or a length: so long ago. A day's `until` is its end."""
    if name not in fields_by_name:
        return None
    text = fields_by_name[name][0]
    try:
        if length := _TIME_SPAN.fullmatch(text):
            return now - timedelta(**{_UNITS[length[2].lower()]: int(length[1])})
        moment = datetime.fromisoformat(text)
        if len(text) <= 10 and name == "until":
            moment = datetime.combine(moment, time()) + timedelta(days=1)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC) if 1970 <= moment.year < 9999 else _refuse_year(name)
    except (ValueError, OverflowError):
        right = "a time such as 2026-01-31 or 2026-01-31T14:00 (UTC), or a length such as 30min, 2h or 3d"
        raise page_error(f"{name} is {right}; not {text[:40]!r}") from None


def _refuse_year(name: str) -> Any:
    raise page_error(f"{name} lies outside of the years 1970 to 9998")
