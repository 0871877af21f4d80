"""Who in this process serves which oban node. Oban makes its workers itself, so they have to ask."""

from typing import Protocol

from oban.job import Job

TICKS = "pressroom-schedules"


class Serving(Protocol):
    async def fire(self) -> None: ...

    def ask(self, queue: str, most: int) -> int:
        """How many jobs of this queue to fetch: there is room for them, and it is kept."""
        ...

    def came(self, queue: str, asked: int, jobs: list[Job]) -> None:
        """Of those that were asked for, these were fetched and are on their way."""
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
