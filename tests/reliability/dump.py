"""Everything that a database holds after a run, as values for the judge."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.store.engine import postgres_health, sqlite_health
from pressroom.store.engine.fsck import Violation
from tests import looking


@dataclass(frozen=True)
class JobRow:
    id: int
    uid: str
    kind: str
    status: str
    claim: int
    key: str | None
    subject: str | None
    date_completed: int | None
    last_error: str | None
    result: Any
    errors: Any
    payload: Any

    @property
    def ended(self) -> bool:
        return self.status not in ("queued", "in_progress")


@dataclass(frozen=True)
class EventRow:
    job_id: int
    type: str
    data: Any


@dataclass(frozen=True)
class Publication:
    """What the application's hook wrote when a job ended. In the order in which it was written."""

    uid: str
    kind: str
    status: str
    key: str | None
    revision: int | None


@dataclass(frozen=True)
class Dump:
    jobs: list[JobRow]
    events: list[EventRow]
    publications: list[Publication]
    letters: list[str]
    ticks: list[str]
    complaints: list[str]  # of integrity_check, foreign_key_check and all that `pressroom fsck` looks at

    @property
    def by_uid(self) -> dict[str, JobRow]:
        return {job.uid: job for job in self.jobs}


JOBS = """
SELECT id, uid, kind, status, claim, key, subject, date_completed, last_error, result, errors, body
  FROM job JOIN job_payload ON job_id = id
 ORDER BY id
"""
EVENTS = "SELECT job_id, type, data FROM job_event ORDER BY id"
PUBLICATIONS = "SELECT uid, kind, status, key, revision FROM publication ORDER BY position"


def read(database: Path | str) -> Dump:
    """Of a file, or of a database on a server by its address."""
    address = address_of(database)
    rows = partial(looking.rows, address)
    return Dump(
        jobs=[JobRow(*row[:9], *map(_json, row[9:])) for row in rows(JOBS)],
        events=[EventRow(job, type, _json(data)) for job, type, data in rows(EVENTS)],
        publications=[Publication(*row) for row in rows(PUBLICATIONS)],
        letters=[nonce for (nonce,) in rows("SELECT nonce FROM letter")],
        ticks=[job for (job,) in rows("SELECT job FROM schedule_tick")],
        complaints=[f"{one.check} {one.job or ''} {one.detail}" for one in _audit(address)],
    )


def address_of(database: Path | str) -> str:
    return f"sqlite:///{database}" if isinstance(database, Path) else database


def _audit(address: str) -> list[Violation]:
    if address.startswith("sqlite:"):
        return sqlite_health.audit(address.removeprefix("sqlite:///"), BUILT_IN_SCHEMA)
    return postgres_health.audit(address, BUILT_IN_SCHEMA)


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
