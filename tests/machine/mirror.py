"""What the database says, read after each step: only rows that SQLite reports as touched, so that a look costs little."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import apsw


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


_COLUMNS = ", ".join(Row._fields[:-1]) + ", coalesce(json_array_length(errors), 0)"
_ONE = f"SELECT {_COLUMNS} FROM job WHERE id = ?"
_ALL = f"SELECT {_COLUMNS} FROM job"
_EVENTS = "SELECT id, job_id, type FROM job_event WHERE id > ? ORDER BY id"
_ENDINGS = "SELECT job_id, type FROM job_event WHERE type IN ('completed', 'completed_with_errors', 'failed', 'cancelled')"
_CACHE = "SELECT fingerprint, job_id, expires_at FROM render_cache"
_ITEMS = "SELECT job_id, claim, noun, name, state FROM job_item"

type Item = tuple[int, int, str, str]  # job, claim, noun, name


class Change(NamedTuple):
    before: Row | None
    after: Row | None


class Mirror:
    """The tables as they were at the last look."""

    def __init__(self, raw: apsw.Connection) -> None:
        self.jobs: dict[int, Row] = {}
        self.open: dict[int, Row] = {}
        self.payloads: dict[int, str] = {}
        self.cache: dict[str, tuple[int, int]] = {}
        self.events: list[tuple[int, str]] = []  # those of the last step
        self.rewritten: list[int] = []  # jobs whose payload was written in the last step
        self._last_event = 0
        self.attach(raw)

    def attach(self, raw: apsw.Connection) -> None:
        """Look at this connection from now on."""
        self._touched: dict[str, set[int]] = {"job": set(), "job_payload": set(), "job_event": set(), "render_cache": set()}
        self._run: Callable[..., Any] = raw.cursor().execute
        raw.set_update_hook(self._note)

    def _note(self, _type: int, _database: str, table: str, rowid: int) -> None:
        if (touched := self._touched.get(table)) is not None:
            touched.add(rowid)

    def look(self) -> list[Change]:
        """Take in what the last step wrote, and return how jobs changed."""
        touched = self._touched
        changes = self._read_jobs(touched["job"]) if touched["job"] else []
        self.rewritten = self._read_payloads(touched["job_payload"]) if touched["job_payload"] else []
        self.events = []
        if touched["job_event"]:
            for event, job, type in self._run(_EVENTS, (self._last_event,)).fetchall():
                self.events.append((job, type))
                self._last_event = event
        if touched["render_cache"]:
            self.cache = self.read_cache()
        for rows in touched.values():
            rows.clear()
        return changes

    def _read_jobs(self, ids: Iterable[int]) -> list[Change]:
        changes = []
        for id in sorted(ids):
            found = self._run(_ONE, (id,)).fetchall()
            before, after = self.jobs.get(id), Row._make(found[0]) if found else None
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

    def _read_payloads(self, ids: Iterable[int]) -> list[int]:
        rewritten = []
        for id in ids:
            found = self._run("SELECT body FROM job_payload WHERE job_id = ?", (id,)).fetchall()
            if not found:
                self.payloads.pop(id, None)
            elif self.payloads.get(id) != found[0][0]:
                self.payloads[id] = found[0][0]
                rewritten.append(id)
        return rewritten

    def read_items(self) -> dict[Item, str]:
        return {(job, claim, noun, name): state for job, claim, noun, name, state in self._run(_ITEMS)}

    def read_cache(self) -> dict[str, tuple[int, int]]:
        return {digest: (job, expires_at) for digest, job, expires_at in self._run(_CACHE)}

    def read_all(self) -> dict[int, Row]:
        return {row[0]: Row._make(row) for row in self._run(_ALL)}

    def read_payloads(self) -> dict[int, str]:
        return dict(self._run("SELECT job_id, body FROM job_payload").fetchall())

    def read_endings(self) -> list[tuple[Any, ...]]:
        """Every ending in the history, whether or not the unique index that allows one per job is there."""
        return self.ask(_ENDINGS)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        return list(self._run(sql))
