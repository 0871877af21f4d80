"""The nodes of this process by their name. Oban makes its workers and calls our extensions itself, so they look here."""

from typing import Protocol

from oban.job import Job

TICK_QUEUE = "pressroom-schedules"


class RegisteredNode(Protocol):
    async def fire_schedules(self) -> None: ...

    def reserve_slots(self, queue: str, limit: int) -> int:
        """How many jobs of this queue to fetch: the slots for them are reserved."""
        ...

    def note_fetched(self, queue: str, reserved: int, jobs: list[Job]) -> None:
        """These jobs came, of as many as slots were reserved for."""
        ...


_nodes: dict[str, RegisteredNode] = {}


def register_node(name: str, node: RegisteredNode) -> None:
    _nodes[name] = node


def unregister_node(name: str) -> None:
    _nodes.pop(name, None)


def find_node(name: str) -> RegisteredNode | None:
    return _nodes.get(name)


def node_of_job(job: Job) -> RegisteredNode:
    (name, *_) = job.attempted_by
    node = _nodes.get(name)
    if node is None:
        raise RuntimeError(f"this process has no node {name}")
    return node
