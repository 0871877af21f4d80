"""Workers as somebody may see them. A worker is named after its machine, and how busy it is tells of everybody's jobs: both
are for those who run the whole place. Others see that it is there and how it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from pressroom.api.access import Caller
from pressroom.store.operators.overview import Active
from pressroom.store.operators.worker_list import WorkerState

NAMELESS = "a worker"


@dataclass(frozen=True)
class Hand:
    """A worker, what it is called here, and those of its jobs that may be seen."""

    name: str
    member: WorkerState
    jobs: Sequence[Active]

    @property
    def state(self) -> str:
        return self.member.state if self.member.alive else "silent"


def crew(caller: Caller, members: Sequence[WorkerState], active: Iterable[Active]) -> list[Hand]:
    jobs: dict[str | None, list[Active]] = {}
    for job in active:
        jobs.setdefault(job.worker, []).append(job)
    names = names_for(caller, members)
    return [Hand(names[member.id], _as_seen(caller, member), jobs.get(member.id, [])) for member in members]


def names_for(caller: Caller, members: Sequence[WorkerState]) -> dict[str, str]:
    """What each worker is called here, by its id."""
    return {member.id: member.id if caller.everywhere else f"worker {n}" for n, member in enumerate(members, 1)}


def named(caller: Caller, members: Sequence[WorkerState], active: Iterable[Active]) -> list[Active]:
    """The jobs, with what their workers are called here. A worker that is forgotten may still be named by a job."""
    names = names_for(caller, members)
    unknown = None if caller.everywhere else NAMELESS
    return [
        job if job.worker is None else msgspec.structs.replace(job, worker=names.get(job.worker, unknown or job.worker))
        for job in active
    ]


def _as_seen(caller: Caller, member: WorkerState) -> WorkerState:
    return member if caller.everywhere else msgspec.structs.replace(member, id="", host="", pid=0, running=0)
