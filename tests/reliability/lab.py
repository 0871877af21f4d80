"""The crash lab: submitters and workers on one database file, and a nemesis that kills, pauses and stops them at work."""

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.store.engine import statements
from tests.reliability import clerk, founder, nemesis, worker
from tests.reliability.desk import CROWD, Desk
from tests.reliability.floor import Floor
from tests.reliability.journal import Line
from tests.reliability.nemesis import Fault
from tests.reliability.slot import Slot, Toll
from tests.reliability.victims import Role, Victim, start
from tests.reliability.workload import MANY, place_at

TEAM = {"press": 4, "binder": 2, "desk": 3, "clerk": 1}
PRESS_KINDS = frozenset({"note", "page", "line", "poster", "leaflet", "tick", "bomb"})
BINDER_KINDS = frozenset({"book"})
DRAIN_LIMIT = 300.0
CYCLES_PER_BOMB = 100
OPEN_PART = 0.1  # of the jobs that were accepted; faults wait while more are open
FEW_OPEN = 20

# A job that was beside six crashes waits a minute before it runs again. The clean workers need not: their clock is ahead.
AHEAD = 120.0


class Lab(Floor):
    accepted_per_fault = 4.0  # a quiet machine accepts seven
    team = TEAM
    crowd = CROWD
    books = 0  # that lie there when the workers come
    ahead = AHEAD
    drain_limit = DRAIN_LIMIT

    def __init__(self, folder: Path, seed: int, show: Callable[[Toll, int], None]) -> None:
        super().__init__(folder, "press.db", show)
        self.place = place_at(f"sqlite:///{self.database}")
        self._seed = seed
        self._newest_open = 0
        self._open: dict[int, int] = {}  # how many jobs are open, as each worker last saw it
        self._slots = [self._slot(role, number) for role, count in self.team.items() for number in range(count)]
        statements.load("sqlite", BUILT_IN_SCHEMA)  # read once here, not by every child

    def run(self, cycles: int) -> None:
        """Found the database, torment the team for as many cycles, then let clean workers finish what is left."""
        self._found(bombs=1 + cycles // CYCLES_PER_BOMB)
        self._torment(cycles)
        self._send_all_home()
        self._drain()
        self.journal.sync()

    def hear(self, line: Line) -> None:
        super().hear(line)
        if line.do == "open":
            self._open[line.pid] = self._newest_open = line.data["count"]
        elif line.do == "bomb":
            self.toll.bombed.add(line.pid)

    def _keeps_pace(self) -> bool:
        """Its submitters wait for their jobs, so that few are open if workers live for long enough."""
        return super()._keeps_pace() and self._newest_open <= max(FEW_OPEN, OPEN_PART * len(self._acked))

    def _found(self, bombs: int) -> None:
        """The first who open the file are killed while they make its tables; the last finds nothing half made."""

        async def role(stopping: asyncio.Event) -> None:
            await founder.run(self.place, self.journal, bombs, self.books)

        for point in nemesis.FOUNDER_POINTS:
            victim = self._fork(role, spec=f"{point}=kill")
            victim.wait()
            self.toll.count_failpoint(point, victim)
        victim = self._fork(role)
        victim.wait()
        if victim.ended != 0:
            raise RuntimeError(f"the database could not be founded; see {self.folder}/lab.log")

    def _send_all_home(self) -> None:
        """Submitters may finish; workers are killed with whatever they hold, as the last fault."""
        team = [slot.victim for slot in self._slots if slot.victim is not None]
        for slot in self._slots:
            if slot.victim is not None:
                slot.victim.signal(signal.SIGCONT)
                slot.victim.signal(signal.SIGTERM if slot.role in ("desk", "clerk") else signal.SIGKILL)
        self._see_off(team)

    def _drain(self) -> None:
        """Clean workers until nothing is open. They are started again when the last bombs kill them."""
        roles = [self._worker(kinds, schedules=False) for kinds in (PRESS_KINDS, PRESS_KINDS, BINDER_KINDS)]
        self._read_news()
        self._open.clear()  # what the dead told, whose pids may come again
        team = [self._fork(role, ahead=self.ahead) for role in roles]
        deadline = time.monotonic() + self.drain_limit
        while open_jobs := max(self._open.get(victim.pid, MANY) for victim in team):
            if time.monotonic() > deadline:
                print(f"STUCK: {open_jobs} jobs have not ended {self.drain_limit:g} s after the last fault", file=sys.stderr)
                break
            self._look_around()
            team = [
                self._fork(role, ahead=self.ahead) if victim.has_ended() else victim
                for role, victim in zip(roles, team, strict=True)
            ]
        for victim in team:
            victim.signal(signal.SIGTERM)
        self._see_off(team)

    def _slot(self, role: str, number: int) -> Slot:
        def begin(times: int, spec: str) -> Victim:
            return self._fork(self._role(role, f"{role}-{number}", f"{self._seed}/{role}/{number}/{times}"), spec=spec)

        return Slot(role, self._fate(role, number), begin, self.toll, self._is_at_work)

    def _is_at_work(self, victim: Victim) -> bool:
        return True

    def _fate(self, role: str, number: int) -> Iterator[Fault]:
        return nemesis.faults(self._seed, role, number)

    def _role(self, role: str, name: str, seed: str) -> Role:
        match role:
            case "press":
                return self._worker(PRESS_KINDS)
            case "binder":
                return self._worker(BINDER_KINDS)
            case "clerk":
                return partial(clerk.run, self.place, self.journal, seed)
            case _:
                return Desk(self.place, self.journal, name, seed, self.crowd).run

    def _worker(self, kinds: frozenset[str], *, schedules: bool = True) -> Role:
        return partial(worker.run, self.place, self.journal, kinds, schedules)

    def _fork(self, role: Role, *, spec: str = "", ahead: float = 0.0) -> Victim:
        return start(role, self.log, spec=spec, clock_ahead=ahead)
