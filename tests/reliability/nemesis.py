"""Which faults befall whom, and when. A seed and a victim's name give the same fate again, however the run goes."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from tests.reliability.workload import LEASE


@dataclass(frozen=True)
class Kill:
    after: float


@dataclass(frozen=True)
class KillAt:
    """Killed by a failpoint when it is passed the n-th time. If it is not passed in good time, killed wherever it is."""

    after: float
    point: str
    nth: int

    @property
    def spec(self) -> str:
        return f"{self.point}=kill@{self.nth}"


@dataclass(frozen=True)
class Pause:
    after: float
    seconds: float


@dataclass(frozen=True)
class Terminate:
    after: float


type Fault = Kill | KillAt | Pause | Terminate

# The failpoints that each role passes, with how often at most before it is killed there: what is rare must hit at once.
WORKER_POINTS = {
    "turn.before_commit": 30,
    "turn.after_commit": 30,
    "claim.selected": 20,
    "handler.started": 15,
    "handler.returned": 15,
    "heartbeat.before_commit": 4,
    "heartbeat.after_commit": 4,
    "progress.before_commit": 3,
    "progress.after_commit": 3,
    "rescue.before_commit": 2,
    "rescue.after_commit": 2,
    "cancel.before_commit": 1,
    "cancel.after_commit": 1,
    "prune.before_commit": 3,
    "prune.after_commit": 3,
    "schedule.before_commit": 1,
    "schedule.after_commit": 1,
}
DESK_POINTS = {
    "submit.validated": 15,
    "submit.before_commit": 15,
    "submit.after_commit": 15,
    "transaction.held": 2,
    "cancel.before_commit": 1,
    "cancel.after_commit": 1,
}
CLERK_POINTS = {"cancel.before_commit": 3, "cancel.after_commit": 3}
FOUNDER_POINTS = ["migrate.before_commit", "migrate.after_commit"]


@dataclass(frozen=True)
class Fate:
    """What a role has to expect: weights of kill, failpoint, pause and termination, and how long it is left alone."""

    weights: tuple[int, int, int, int]
    peace: tuple[float, float]
    points: dict[str, int]


FATES = {
    "press": Fate((30, 50, 12, 8), (0.3, 1.6), WORKER_POINTS),
    "binder": Fate((15, 15, 55, 15), (1.5, 4.0), WORKER_POINTS),  # its jobs are long, and want to be slept through
    "desk": Fate((35, 45, 10, 10), (0.4, 1.6), DESK_POINTS),
    "clerk": Fate((35, 45, 10, 10), (0.4, 1.6), CLERK_POINTS),
}
PATIENCE = (1.5, 3.0)
PAUSES = (0.5 * LEASE, 1.6 * LEASE, 2.5 * LEASE)  # one shorter than the lease: that one must change nothing


def faults(seed: int, role: str, number: int, fate: Fate | None = None) -> Iterator[Fault]:
    fate = fate or FATES[role]
    dice = random.Random(f"{seed}/{role}/{number}")
    points = itertools.cycle(dice.sample([*fate.points], len(fate.points)))
    if role == "binder":
        yield Pause(LEASE, PAUSES[-1])  # a run without any late write proves nothing
        yield Kill(dice.uniform(*fate.peace))
    while True:
        after = dice.uniform(*fate.peace)
        match dice.choices(range(4), fate.weights)[0]:
            case 0:
                yield Kill(after)
            case 1:
                point = next(points)
                yield KillAt(dice.uniform(*PATIENCE), point, dice.randint(1, fate.points[point]))
            case 2:
                yield Pause(after, dice.choice(PAUSES))
                yield Kill(dice.uniform(*fate.peace))  # a failpoint is armed at the start of a process; this one is old
            case _:
                yield Terminate(after)
