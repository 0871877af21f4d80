"""How a module lists its attacks."""

from collections.abc import Callable

from tests.attack.measure import Attack, Run

ANONYMOUS, VIEWER, SUBMITTER = "anonymous", "viewer", "submitter"


class Attacks:
    def __init__(self) -> None:
        self.all: list[Attack] = []

    def add(self, name: str, caller: str) -> Callable[[Run], Run]:
        def register(run: Run) -> Run:
            self.all.append(Attack(name, caller, run))
            return run

        return register
