"""A place in the lab's team, and what befalls whoever takes it."""

import signal
from collections import Counter
from collections.abc import Callable, Iterator

from tests.reliability.journal import Journal
from tests.reliability.nemesis import Fault, Kill, KillAt, Pause, Terminate
from tests.reliability.victims import Victim

START_LIMIT = 60.0  # whoever has not begun to work by then is not waited for
STOP_LIMIT = 60.0  # a process that was told to stop and has not gone by then hangs: far more than its grace


class Toll:
    """What was done to the team."""

    def __init__(self, journal: Journal) -> None:
        self.faults: Counter[str] = Counter()
        self.points: Counter[str] = Counter()
        self.hung = 0
        self.broken = 0  # ended by an error of their own
        self.bombed: set[int] = set()  # killed by poison: nobody's doing but the job's
        self._journal = journal

    @property
    def cycles(self) -> int:
        return self.faults.total()

    def count(self, fault: str, victim: Victim, **details: object) -> None:
        self.faults[fault] += 1
        self._journal.write("info", "fault", fault=fault, victim=victim.pid, **details)

    def count_failpoint(self, point: str, victim: Victim) -> None:
        self.points[point] += 1
        self.count("failpoint", victim, point=point)


class Slot:
    """When its victim dies, the next one takes the place and meets the next fault of the place's fate.

    Its time is counted from when it is `at_work`: where starting is slow, it would else die of nothing but starting.
    """

    def __init__(
        self,
        role: str,
        fate: Iterator[Fault],
        begin: Callable[[int, str], Victim],
        toll: Toll,
        at_work: Callable[[Victim], bool] = lambda _: True,
    ) -> None:
        self.role = role
        self.victim: Victim | None = None
        self._fate = fate
        self._begin = begin
        self._toll = toll
        self._at_work = at_work
        self._starting_until = 0.0
        self._began = 0
        self._fault: Fault
        self._due = 0.0
        self._struck = False
        self._resume_at: float | None = None

    def step(self, now: float, *, may_strike: bool = True) -> None:
        """Without `may_strike` a fault that is due waits; what was begun goes on."""
        if self.victim is None:
            self._fill(now)
        elif self.victim.has_ended():
            self._bury(self.victim)
        elif not self._struck and now < self._starting_until and not self._at_work(self.victim):
            self._due = now + self._fault.after
        elif self._resume_at is not None:
            if now >= self._resume_at:
                self._resume(self.victim, now)
        elif now >= self._due and (may_strike or self._struck):
            self._strike(self.victim, now)

    def _fill(self, now: float) -> None:
        self._meet_next_fault(now)
        self._starting_until = now + START_LIMIT
        self._began += 1
        self.victim = self._begin(self._began, self._fault.spec if isinstance(self._fault, KillAt) else "")

    def _meet_next_fault(self, now: float) -> None:
        self._fault = next(self._fate)
        self._due = now + self._fault.after
        self._struck = False

    def _resume(self, victim: Victim, now: float) -> None:
        victim.signal(signal.SIGCONT)
        self._resume_at = None
        self._meet_next_fault(now)

    def _strike(self, victim: Victim, now: float) -> None:
        match self._fault:
            case Pause(_, seconds):
                victim.signal(signal.SIGSTOP)
                self._resume_at = now + seconds
                self._toll.count("pause", victim)
            case Terminate() if not self._struck:
                victim.signal(signal.SIGTERM)
                self._due = now + STOP_LIMIT
                self._toll.count("terminate", victim)
            case Terminate():
                victim.show_stacks()
                victim.signal(signal.SIGKILL)
                self._due = float("inf")
                self._toll.hung += 1
            case Kill() | KillAt():
                victim.signal(signal.SIGKILL)
                self._due = float("inf")
                self._toll.count("kill", victim)
        self._struck = True

    def _bury(self, victim: Victim) -> None:
        if victim.ended == -signal.SIGKILL and isinstance(self._fault, KillAt) and not self._struck:
            if victim.pid not in self._toll.bombed:
                self._toll.count_failpoint(self._fault.point, victim)
        elif victim.ended is not None and victim.ended > 0:
            self._toll.broken += 1
        self._toll.bombed.discard(victim.pid)  # the pid will come again
        self.victim = None
