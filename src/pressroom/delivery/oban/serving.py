"""Who in this process serves which oban node. Oban makes its workers itself, so they have to ask."""

from typing import Any, Protocol

from oban.job import Job

TICKS = "pressroom-schedules"


class Serving(Protocol):
    async def perform(self, job: Job) -> Any: ...

    async def fire(self) -> None: ...

    def room_for(self, queue: str) -> int:
        """For how many jobs of this queue there is room."""
        ...

    def expect(self, jobs: list[Job]) -> None:
        """These were fetched and are on their way."""
        ...


_by_node: dict[str, Serving] = {}


def begin(node: str, serving: Serving) -> None:
    _by_node[node] = serving


def end(node: str) -> None:
    _by_node.pop(node, None)


def of_node(node: str) -> Serving | None:
    return _by_node.get(node)


def by(job: Job) -> Serving:
    (node, *_) = job.attempted_by
    serving = _by_node.get(node)
    if serving is None:
        raise RuntimeError(f"nobody here serves {node}")
    return serving
