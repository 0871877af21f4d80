"""What the database says, read after each step."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import apsw
import psycopg


class Row(NamedTuple):
    """The columns of a job that the machine has an opinion on."""

    id: int
    uid: str
    kind: str
    tier: int
    seq: int
    run_at: int
    status: str
    waits_for: str | None
    phase: str | None
    progress: str | None
    failures: int
    crashes: int
    claim: int
    worker: str | None
    lease_until: int | None
    key: str | None
    fingerprint: str | None
    org_id: str
    result: str | None
    parent: str | None
    retry_of: str | None
    superseded_by: str | None
    version: int
    cancel_requested: int
    prune_after: int | None
    date_created: int
    date_completed: int | None
    last_error: str | None
    errors: int  # how many

    @property
    def open(self) -> bool:
        return self.status in ("queued", "in_progress")

    @property
    def line(self) -> tuple[str, str] | None:
        return None if self.key is None else (self.org_id, self.key)


_COLUMNS = ", ".join(Row._fields[:-1])
_ENDINGS = "SELECT job_id, type FROM job_event WHERE type IN ('completed', 'completed_with_errors', 'failed', 'cancelled')"
_CACHE = "SELECT fingerprint, job_id, expires_at FROM render_cache"
_ITEMS = "SELECT job_id, claim, noun, name, state FROM job_item"
_PAYLOADS = "SELECT job_id, body FROM job_payload"
_TICKS = "SELECT tick, job FROM schedule_tick"

type Item = tuple[int, int, str, str]  # job, claim, noun, name


class Change(NamedTuple):
    before: Row | None
    after: Row | None


class Mirror(ABC):
    """The tables as they were at the last look."""

    _all: str

    def __init__(self) -> None:
        self.jobs: dict[int, Row] = {}
        self.open: dict[int, Row] = {}
        self.payloads: dict[int, str] = {}
        self.cache: dict[str, tuple[int, int]] = {}
        self.events: list[tuple[int, str]] = []  # those of the last step
        self.rewritten: list[int] = []  # jobs whose payload was written in the last step
        self._last_event = 0
        self._run: Callable[..., Any]

    @abstractmethod
    def look(self) -> list[Change]:
        """Take in what the last step wrote, and return how jobs changed."""

    def _see_jobs(self, seen: Iterable[tuple[int, Row | None]]) -> list[Change]:
        changes = []
        for id, after in seen:
            before = self.jobs.get(id)
            if before == after:
                continue
            changes.append(Change(before, after))
            self.open.pop(id, None)
            if after is None:
                del self.jobs[id]
                continue
            self.jobs[id] = after
            if after.open:
                self.open[id] = after
        return changes

    def _see_payloads(self, seen: Iterable[tuple[int, str | None]]) -> None:
        self.rewritten = []
        for id, body in seen:
            if body is None:
                self.payloads.pop(id, None)
            elif self.payloads.get(id) != body:
                self.payloads[id] = body
                self.rewritten.append(id)

    def _see_events(self, seen: Iterable[tuple[int, int, str]]) -> None:
        for event, job, type in seen:
            self.events.append((job, type))
            self._last_event = event

    def read_items(self) -> dict[Item, str]:
        return {(job, claim, noun, name): state for job, claim, noun, name, state in self._run(_ITEMS)}

    def read_cache(self) -> dict[str, tuple[int, int]]:
        return {digest: (job, expires_at) for digest, job, expires_at in self._run(_CACHE)}

    def read_all(self) -> dict[int, Row]:
        return {row[0]: Row._make(row) for row in self._run(self._all)}

    def read_payloads(self) -> dict[int, str]:
        return dict(self._run(_PAYLOADS).fetchall())

    def read_ticks(self) -> dict[int, str]:
        return dict(self._run(_TICKS).fetchall())

    def read_endings(self) -> list[tuple[Any, ...]]:
        """Every ending in the history, whether or not the unique index that allows one per job is there."""
        return list(self._run(_ENDINGS))


class SqliteMirror(Mirror):
    """Reads only rows that SQLite reports as touched, so that a look costs little."""

    _all = f"SELECT {_COLUMNS}, coalesce(json_array_length(errors), 0) FROM job"
    _one = f"{_all} WHERE id = ?"
    _body = "SELECT body FROM job_payload WHERE job_id = ?"
    _events = "SELECT id, job_id, type FROM job_event WHERE id > ? ORDER BY id"

    def __init__(self, raw: apsw.Connection) -> None:
        super().__init__()
        self.attach(raw)

    def attach(self, raw: apsw.Connection) -> None:
        """Look at this connection from now on."""
        self._touched: dict[str, set[int]] = {"job": set(), "job_payload": set(), "job_event": set(), "render_cache": set()}
        self._run = raw.cursor().execute
        raw.set_update_hook(self._note)

    def _note(self, _type: int, _database: str, table: str, rowid: int) -> None:
        if (touched := self._touched.get(table)) is not None:
            touched.add(rowid)

    def look(self) -> list[Change]:
        touched = self._touched
        changes = self._see_jobs([(id, self._read_job(id)) for id in sorted(touched["job"])]) if touched["job"] else []
        self._see_payloads([(id, self._read_payload(id)) for id in touched["job_payload"]])
        self.events = []
        if touched["job_event"]:
            self._see_events(self._run(self._events, (self._last_event,)).fetchall())
        if touched["render_cache"]:
            self.cache = self.read_cache()
        for rows in touched.values():
            rows.clear()
        return changes

    def _read_job(self, id: int) -> Row | None:
        found = self._run(self._one, (id,)).fetchall()
        return Row._make(found[0]) if found else None

    def _read_payload(self, id: int) -> str | None:
        found = self._run(self._body, (id,)).fetchall()
        return found[0][0] if found else None


class PostgresMirror(Mirror):
    """Reads everything, from a connection of its own: what it sees is committed."""

    _all = f"SELECT {_COLUMNS}, coalesce(json_array_length(errors::json), 0) FROM job ORDER BY id"
    _events = "SELECT id, job_id, type FROM job_event WHERE id > %s ORDER BY id"

    def __init__(self, raw: "psycopg.Connection[Any]") -> None:
        super().__init__()
        self._run = raw.execute

    def look(self) -> list[Change]:
        rows, bodies = self.read_all(), self.read_payloads()
        gone = self.jobs.keys() - rows.keys()
        changes = self._see_jobs([*rows.items(), *((id, None) for id in sorted(gone))])
        self._see_payloads([*bodies.items(), *((id, None) for id in self.payloads.keys() - bodies.keys())])
        self.events = []
        self._see_events(self._run(self._events, (self._last_event,)).fetchall())
        self.cache = self.read_cache()
        return changes
