"""The crash lab: submitters and workers on one database file, and a nemesis that kills, pauses and stops them at work."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pressroom.store import statements
from tests.reliability import clerk, founder, nemesis, worker
from tests.reliability.desk import Desk
from tests.reliability.journal import Journal
from tests.reliability.nemesis import Fault, Kill, KillAt, Pause, Terminate
from tests.reliability.victims import Role, Victim, start

TEAM = {"press": 4, "binder": 2, "desk": 3, "clerk": 1}
PRESS_KINDS = frozenset({"note", "page", "line", "poster", "leaflet", "tick", "bomb"})
BINDER_KINDS = frozenset({"book"})
STOP_LIMIT = 10.0  # a process that was told to stop and has not gone by then hangs: far more than its grace
DRAIN_LIMIT = 60.0
BEAT = 0.01
CYCLES_PER_BOMB = 100

# A job that was beside six crashes waits a minute before it runs again. The clean workers need not: their clock is ahead.
AHEAD = 120.0


@dataclass
class Slot:
    """A place in the team. When its victim dies, the next one takes it and meets the next fault of the place's fate."""

    name: str
    role: str
    fate: Iterator[Fault]
    victim: Victim | None = None
    fault: Fault = field(default_factory=lambda: Kill(0))
    due: float = 0.0
    resume_at: float | None = None
    killed: bool = False
    incarnation: int = 0


@dataclass
class Toll:
    """What was done to the team."""

    faults: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    hung: int = 0
    broken: int = 0

    @property
    def cycles(self) -> int:
        return self.faults.total()


class Lab:
    def __init__(self, folder: Path, seed: int, show: Callable[[Toll, int], None]) -> None:
        self.folder = folder
        self.database = folder / "press.db"
        self.url = f"sqlite:///{self.database}"
        self.journal = Journal(folder / "journal.jsonl")
        self.toll = Toll()
        self._seed = seed
        self._show = show
        self._acked = 0
        self._open: int | None = None
        self._slots = [
            Slot(f"{role}-{number}", role, nemesis.faults(seed, role, number))
            for role, count in TEAM.items()
            for number in range(count)
        ]
        statements.load("sqlite")  # read once here, not by every child

    def run(self, cycles: int) -> None:
        """Found the database, torment the team for as many cycles, then let clean workers finish what is left."""
        self._found(bombs=1 + cycles // CYCLES_PER_BOMB)
        while self.toll.cycles < cycles:
            self._look_around()
            for slot in self._slots:
                self._step(slot)
        self.journal.write("info", "peace", wall=time.time())
        self._send_all_home()
        self._drain()
        self.journal.sync()

    def _found(self, bombs: int) -> None:
        """The first who open the file are killed while they make its tables; the third finds nothing half made."""
        for point in nemesis.FOUNDER_POINTS:
            victim = self._fork(partial(self._founder, bombs), spec=f"{point}=kill")
            _await_end(victim)
            self._count_failpoint(KillAt(0, point, 1), victim)
        victim = self._fork(partial(self._founder, bombs))
        _await_end(victim)
        if victim.ended != 0:
            raise RuntimeError(f"the database could not be founded; see {self.folder}/lab.log")

    async def _founder(self, bombs: int, stopping: object) -> None:
        await founder.run(self.url, self.journal, bombs)

    def _step(self, slot: Slot) -> None:
        now = time.monotonic()
        if slot.victim is None:
            self._fill(slot, now)
        elif slot.victim.has_ended():
            self._bury(slot)
        elif slot.resume_at is not None:
            if now >= slot.resume_at:
                slot.victim.signal(signal.SIGCONT)
                slot.resume_at = None
                self._next_fault(slot, now)
        elif now >= slot.due:
            self._strike(slot, now)

    def _fill(self, slot: Slot, now: float) -> None:
        self._next_fault(slot, now)
        slot.incarnation += 1
        slot.killed = False
        spec = slot.fault.spec if isinstance(slot.fault, KillAt) else ""
        slot.victim = self._fork(self._role(slot), spec=spec)

    def _next_fault(self, slot: Slot, now: float) -> None:
        slot.fault = next(slot.fate)
        slot.due = now + slot.fault.after

    def _strike(self, slot: Slot, now: float) -> None:
        assert slot.victim is not None
        match slot.fault:
            case Pause(_, seconds):
                slot.victim.signal(signal.SIGSTOP)
                slot.resume_at = now + seconds
                self._count("pause", slot.victim)
            case Terminate() if not slot.killed:
                slot.victim.signal(signal.SIGTERM)
                slot.killed = True
                slot.due = now + STOP_LIMIT
                self._count("terminate", slot.victim)
            case Terminate():
                self.toll.hung += 1
                self.journal.write("info", "hung", pid=slot.victim.pid, slot=slot.name)
                slot.victim.signal(signal.SIGKILL)
                slot.due = now + STOP_LIMIT
            case Kill() | KillAt():
                if not slot.killed:
                    slot.victim.signal(signal.SIGKILL)
                    slot.killed = True
                    self._count("kill", slot.victim)

    def _bury(self, slot: Slot) -> None:
        assert slot.victim is not None
        if isinstance(slot.fault, KillAt) and not slot.killed:
            self._count_failpoint(slot.fault, slot.victim)
        if slot.victim.ended is not None and slot.victim.ended > 0:
            self.toll.broken += 1
        slot.victim = None

    def _count_failpoint(self, fault: KillAt, victim: Victim) -> None:
        """It died by itself: of its failpoint, unless a bomb told us that it was the bomb."""
        if victim.ended == -signal.SIGKILL and victim.pid not in self._bombed:
            self.toll.points[fault.point] += 1
            self._count("failpoint", victim, point=fault.point)

    def _count(self, fault: str, victim: Victim, **details: object) -> None:
        self.toll.faults[fault] += 1
        self.journal.write("info", "fault", fault=fault, victim=victim.pid, **details)

    def _send_all_home(self) -> None:
        """Submitters may finish; workers are killed with whatever they hold, as the last fault."""
        for slot in self._slots:
            if slot.victim is not None:
                slot.victim.signal(signal.SIGCONT)
                slot.victim.signal(signal.SIGTERM if slot.role in ("desk", "clerk") else signal.SIGKILL)
        for slot in self._slots:
            if slot.victim is not None and not _await_end(slot.victim, STOP_LIMIT):
                self.toll.hung += 1
                slot.victim.signal(signal.SIGKILL)
                _await_end(slot.victim)

    def _drain(self) -> None:
        """Clean workers until nothing is open. They are started again when the last bombs kill them."""
        roles = [self._worker(PRESS_KINDS), self._worker(PRESS_KINDS), self._worker(BINDER_KINDS)]
        team = [self._fork(role, ahead=AHEAD) for role in roles]
        deadline = time.monotonic() + DRAIN_LIMIT
        self._open = None
        while self._open != 0 and time.monotonic() < deadline:
            self._look_around()
            team = [
                self._fork(role, ahead=AHEAD) if victim.has_ended() else victim
                for role, victim in zip(roles, team, strict=True)
            ]
        if self._open != 0:
            print(f"STUCK: {self._open} jobs have not ended {DRAIN_LIMIT:g} s after the last fault", file=sys.stderr)
        for victim in team:
            victim.signal(signal.SIGTERM)
        for victim in team:
            if not _await_end(victim, STOP_LIMIT):
                self.toll.hung += 1
                victim.signal(signal.SIGKILL)
                _await_end(victim)

    def _look_around(self) -> None:
        time.sleep(BEAT)
        for line in self.journal.news():
            self._acked += line.do == "submit" and line.type == "ok"
            if line.do == "open":
                self._open = line.data["count"]
            elif line.do == "bomb":
                self._bombed.add(line.pid)
        self.journal.sync()
        self._show(self.toll, self._acked)

    def _fork(self, role: Role, *, spec: str = "", ahead: float = 0.0) -> Victim:
        return start(role, self.folder / "lab.log", spec=spec, clock_ahead=ahead)

    def _role(self, slot: Slot) -> Role:
        seed = f"{self._seed}/{slot.name}/{slot.incarnation}"
        match slot.role:
            case "press":
                return self._worker(PRESS_KINDS)
            case "binder":
                return self._worker(BINDER_KINDS)
            case "clerk":
                return partial(clerk.run, self.url, self.journal, seed)
            case _:
                return Desk(self.url, self.journal, slot.name, seed).run

    def _worker(self, kinds: frozenset[str]) -> Role:
        return partial(worker.run, self.url, self.journal, kinds)


def _await_end(victim: Victim, limit: float = DRAIN_LIMIT) -> bool:
    deadline = time.monotonic() + limit
    while not victim.has_ended():
        if time.monotonic() > deadline:
            return False
        time.sleep(BEAT)
    return True
