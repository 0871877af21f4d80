"""Workers as a caller may see them. A worker's name holds its host, and its load shows the jobs of all organisations: only
callers of all organisations see both. Others see that it exists and its state."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from pressroom.api.access import Caller
from pressroom.store.operators.overview import Active
from pressroom.store.operators.worker_list import WorkerState

UNNAMED_WORKER = "a worker"


@dataclass(frozen=True)
class WorkerRow:
    """A worker, what it is called here, and those of its jobs that may be seen."""

    name: str
    member: WorkerState
    jobs: Sequence[Active]

    @property
    def state(self) -> str:
        return self.member.state if self.member.alive else "silent"


def worker_rows(caller: Caller, members: Sequence[WorkerState], active: Iterable[Active]) -> list[WorkerRow]:
    jobs: dict[str | None, list[Active]] = {}
    for job in active:
        jobs.setdefault(job.worker, []).append(job)
    names = display_names(caller, members)
    return [WorkerRow(names[member.id], _hide_host(caller, member), jobs.get(member.id, [])) for member in members]


def display_names(caller: Caller, members: Sequence[WorkerState]) -> dict[str, str]:
    """What each worker is called here, by its id."""
    return {member.id: member.id if caller.everywhere else f"worker {n}" for n, member in enumerate(members, 1)}


def with_display_names(caller: Caller, members: Sequence[WorkerState], active: Iterable[Active]) -> list[Active]:
    """The jobs, with what their workers are called here. A worker that is forgotten may still be named by a job."""
    names = display_names(caller, members)
    unknown = None if caller.everywhere else UNNAMED_WORKER
    return [
        job if job.worker is None else msgspec.structs.replace(job, worker=names.get(job.worker, unknown or job.worker))
        for job in active
    ]


def _hide_host(caller: Caller, member: WorkerState) -> WorkerState:
    return member if caller.everywhere else msgspec.structs.replace(member, id="", host="", pid=0, running=0)
