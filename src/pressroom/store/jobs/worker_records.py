"""The register of workers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """A worker as the others know it. `process` names the very process, so that its neighbours can see it die."""

    uid: str
    process: str
    kinds: Sequence[str]
    slots: int
    running: int
    host: str = ""
    pid: int = 0
    version: str = ""
    delivery: str = ""
    lease: int = 15_000
    stopping: bool = False


def save_worker(record: WorkerRecord) -> Work[None]:
    moment = yield from now()
    yield Statement(
        "save_worker",
        {
            "uid": record.uid,
            "process": record.process,
            "host": record.host,
            "pid": record.pid,
            "version": record.version,
            "delivery": record.delivery,
            "kinds": compact(list(record.kinds)),
            "slots": record.slots,
            "lease": record.lease,
            "running": record.running,
            "stopping": int(record.stopping),
            "now": moment,
        },
    )


def delete_worker(uid: str) -> Work[None]:
    yield Statement("delete_worker", {"uid": uid})


def forget_workers(dead: Sequence[str]) -> Work[None]:
    yield Statement("delete_dead_workers", {"dead": compact(dead)})


def list_workers() -> Work[list[tuple[WorkerRecord, int, int]]]:
    rows = yield Statement("list_workers")
    return [
        (WorkerRecord(uid, process, json.loads(kinds), slots, running), started, seen)
        for uid, process, kinds, slots, running, started, seen in rows
    ]
