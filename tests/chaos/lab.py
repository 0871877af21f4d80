"""The crash lab past one machine: the same team and the same judge, on a PostgreSQL that syncs, with any of the deliveries."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.store.engine import statements
from pressroom.store.engine.postgres_connection import IDLE_TIMEOUT
from pressroom.worker.maintenance import LEADER_GRACE, RESCUE_INTERVAL
from tests import postgres, servers
from tests.reliability import dump, nemesis
from tests.reliability.docs_lab import DocsLab
from tests.reliability.dump import Dump
from tests.reliability.journal import Line
from tests.reliability.lab import AHEAD, Lab
from tests.reliability.nemesis import Fate, Fault, Pause
from tests.reliability.slot import Toll
from tests.reliability.victims import Role, Victim
from tests.reliability.workload import LEASE, place_at

# What a process imports only once it opens a database, and a lab that forks five of them in a second had better import before.
LATE = ("pressroom.store.engine.postgres", "pressroom.delivery.redis", "pressroom.delivery.oban")

POLL = 0.2  # a look at a server costs more than one at a file, and news of work comes without looking

# Until somebody has surely taken the sleeper's books: a lease, the patience that the others have with a leader who may sleep as
# well, a look each second. On a busy machine most sleepers hold what the others wait for, until the server ends their session,
# and then the next sleeper may have it.
SLEEP = LEASE + LEADER_GRACE / 1000 + 3 * RESCUE_INTERVAL + 2 * IDLE_TIMEOUT

MOST_OPEN = 0.15
PROLONGED = 150  # cycles at most

# A process on a server takes several connections and some time to start; with fewer of them, each lives to do something.
# Pauses are few: whoever is stopped in a transaction stops all others until the server ends it or it goes on.
TEAM = {"press": 3, "binder": 2, "desk": 2, "clerk": 1}
FATES = {
    "press": Fate((35, 50, 5, 10), (1.5, 4.0), nemesis.WORKER_POINTS),
    "binder": Fate((25, 35, 25, 15), (2.0, 5.0), nemesis.WORKER_POINTS),
    "desk": Fate((35, 50, 5, 10), (1.5, 4.0), nemesis.DESK_POINTS),
    "clerk": Fate((35, 50, 5, 10), (1.0, 3.0), nemesis.CLERK_POINTS),
}


class ServerLab(Lab):
    accepted_per_fault = 1.0
    team = TEAM
    crowd = 8  # a short run is to end most of what it was given
    books = 12

    def __init__(self, folder: Path, seed: int, show: Callable[[Toll, int], None], *, delivery: str) -> None:
        super().__init__(folder, seed, show)
        self._at_work: set[int] = set()
        self._stale = 0
        self._servers = Servers(folder, delivery)
        # Oban hands a job out when its time has come by the server's clock, however far ahead a worker's is.
        self.ahead = 0.0 if delivery == "oban" else AHEAD
        self.drain_limit = 600.0
        self.place = place_at(self._servers.postgres, poll_interval=POLL, delivery=delivery, redis_url=self._servers.redis)

    def hear(self, line: Line) -> None:
        super().hear(line)
        if line.do in ("run", "submit", "cancel"):
            self._at_work.add(line.pid)
        elif line.do == "tally":
            self._stale = max(self._stale, line.data["stale"])

    def dump(self) -> Dump:
        return dump.read(self.place.database)

    def close(self) -> None:
        self._servers.close()

    def _is_enough(self, cycles: int) -> bool:
        """A short run is prolonged until it is worth something: a late write was refused, and most jobs have ended."""
        if not super()._is_enough(cycles):
            return False
        worth_it = self._stale > 0 and self._newest_open < MOST_OPEN * len(self._acked)
        return worth_it or self.toll.cycles >= cycles + PROLONGED

    def _is_at_work(self, victim: Victim) -> bool:
        """Connections take their time, so a process is left alone until it has begun something."""
        return victim.pid in self._at_work

    def _fork(self, role: Role, *, spec: str = "", ahead: float = 0.0) -> Victim:
        victim = super()._fork(role, spec=spec, ahead=ahead)
        self._at_work.discard(victim.pid)  # a pid comes again
        return victim

    def _fate(self, role: str, number: int) -> Iterator[Fault]:
        """The first binder falls asleep over its books."""
        fate = nemesis.faults(self._seed, role, number, FATES[role])
        return itertools.chain([Pause(0.5 * LEASE, SLEEP)], fate) if (role, number) == ("binder", 0) else fate


class DocsServerLab(DocsLab):
    def __init__(self, folder: Path, seed: int, show: Callable[[Toll, int], None], *, delivery: str) -> None:
        super().__init__(folder, seed, show)
        self._servers = Servers(folder, delivery)
        self.ahead = 0 if delivery == "oban" else self.ahead
        self.address = self._servers.postgres
        self.environ |= {
            "PRESSROOM_DATABASE": self.address,
            "PRESSROOM_DELIVERY": delivery,
            "PRESSROOM_POLL_INTERVAL": str(POLL),
            "REDIS_URL": self._servers.redis,
        }

    def close(self) -> None:
        self._servers.close()


class Servers:
    """PostgreSQL, which syncs, and Redis if the delivery needs it. What their clients import late is imported here, before a
    lab forks."""

    def __init__(self, folder: Path, delivery: str) -> None:
        self._open = ExitStack()
        self.postgres = self._open.enter_context(postgres.server(_made(folder / "postgres"), fsync=True))
        self.redis = self._open.enter_context(servers.valkey(_made(folder / "redis"))) if delivery == "redis" else ""
        for module in LATE:
            import_module(module)
        statements.load("postgres", BUILT_IN_SCHEMA)

    def close(self) -> None:
        self._open.close()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
