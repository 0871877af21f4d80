"""The work of the lab: one kind for each promise that a fault could break, and the rows the application keeps of it."""

import asyncio
import os
import signal
import time
from datetime import timedelta
from typing import Any

from pressroom import Backoff, Ending, Kind, OnKey, Schedule, Statement, Transient
from pressroom.config import Settings
from pressroom.model import Work
from tests import looking
from tests.reliability.journal import Journal

LEASE = 1.0
POLL = 0.03
MANY = 1000  # innocents are beside a crash again and again; they must not be parked for it
SOON = Backoff(base=0.05, cap=0.2)

# Rows of the application itself. Nothing here is unique: what must not happen twice has to be seen when it does.
TABLES = """
CREATE TABLE IF NOT EXISTS publication (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, key TEXT, revision INTEGER
);
CREATE TABLE IF NOT EXISTS letter (nonce TEXT NOT NULL);
"""
TABLES_ON_A_SERVER = TABLES.replace("INTEGER PRIMARY KEY AUTOINCREMENT", "BIGSERIAL PRIMARY KEY").replace("INTEGER", "BIGINT")


def make_tables(address: str) -> None:
    looking.change(address, TABLES if address.startswith("sqlite:") else TABLES_ON_A_SERVER)


def place_at(database: str, **others: Any) -> Settings:
    """Where a lab's processes meet."""
    return Settings(**{"database": database, "lease": LEASE, "poll_interval": POLL} | others)


PRUNED = frozenset({"leaflet"})
POISON = "bomb"
SCHEDULES = [Schedule("minutely", "* * * * *", "tick")]


def publish(ending: Ending) -> Work[None]:
    """The settling hook of every kind: one row for one ending, in the transaction that ends the job."""
    yield Statement(
        "INSERT INTO publication (uid, kind, status, key, revision) VALUES (:uid, :kind, :status, :key, :revision)",
        {
            "uid": ending.uid,
            "kind": ending.payload.get("kind", "tick"),
            "status": ending.status,
            "key": ending.key,
            "revision": ending.payload.get("revision"),
        },
    )


class Handlers:
    """Each tells the journal that it runs, works for a while, and returns which claim it ran under."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def kinds(self) -> list[Kind]:
        common: dict[str, Any] = {"settling": publish, "max_crashes": MANY, "backoff": SOON, "max_attempts": 5}
        return [
            Kind("note", self.plain, submit_scope="submitter", **common),
            Kind("page", self.plain, on_key=OnKey.COALESCE, **common),
            Kind("line", self.in_a_thread, on_key=OnKey.LINE_UP, **common),
            Kind("poster", self.plain, cache_for=timedelta(seconds=3), **common),
            Kind("leaflet", self.plain, retention=timedelta(0), **common),
            Kind("tick", self.tick, **common),
            Kind("book", self.longer_than_the_lease, **common),
            Kind("stare", self.blocks_the_loop, **common),
            Kind(POISON, self.kills_its_worker, **common | {"max_crashes": 3}),
        ]

    async def plain(self, job: Any, payload: dict[str, Any]) -> dict[str, Any]:
        self._began(job)
        while payload.get("gate") and not os.path.exists(payload["gate"]):  # noqa: ASYNC110, ASYNC240 - the gate is a file
            await asyncio.sleep(0.005)
        await asyncio.sleep(payload["seconds"])
        return _result(job, payload)

    def in_a_thread(self, job: Any, payload: dict[str, Any]) -> dict[str, Any]:
        self._began(job._job)
        job.phase("setting", total=2)
        time.sleep(payload["seconds"])
        job.step(2)
        return _result(job._job, payload)

    async def longer_than_the_lease(self, job: Any, payload: dict[str, Any]) -> dict[str, Any]:
        self._began(job)
        await job.phase("binding", total=10)
        for _ in range(10):
            await asyncio.sleep(payload["seconds"] / 10)
            await job.step()
        await job.items("chapters", ["one", "two"])
        await job.item_completed("one")
        await job.item_failed("two", "a page is missing")
        return _result(job, payload)

    async def blocks_the_loop(self, job: Any, payload: dict[str, Any]) -> dict[str, Any]:
        self._began(job)
        time.sleep(payload["seconds"])  # noqa: ASYNC251 - rude, on purpose
        return _result(job, payload)

    async def tick(self, job: Any, payload: dict[str, Any]) -> None:
        self._began(job)

    async def kills_its_worker(self, job: Any, payload: dict[str, Any]) -> None:
        self._journal.write("info", "bomb", uid=job.uid)
        os.kill(os.getpid(), signal.SIGKILL)

    def _began(self, job: Any) -> None:
        self._journal.write("invoke", "run", uid=job.uid, token=job._claim.token)


def _result(job: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """The token is no business of handlers. The judge wants it: which claim made the result that was kept?"""
    if job.attempt <= payload.get("fails", 0):
        raise Transient("not yet")
    return {"nonce": payload["nonce"], "revision": payload["revision"], "token": job._claim.token}
