"""Faults upon real processes, and the judge finds nothing. The deep suite makes three hundred."""

import signal
from itertools import islice
from pathlib import Path

import pytest

from pressroom.failpoints import JOB_POINTS
from tests.depth import by_depth
from tests.reliability import nemesis
from tests.reliability.journal import Journal
from tests.reliability.nemesis import Kill, Terminate
from tests.reliability.run_lab import run_lab
from tests.reliability.slot import STOP_LIMIT, Slot, Toll
from tests.reliability.trial import TOO_WEAK, exit_code
from tests.reliability.victims import Victim

SEED = 20261115


def test_faults_lose_nothing_and_do_nothing_twice() -> None:
    # I1, I3, I4, I6, I8, I9, I17, I19, I22, I24; D2, D12, D17
    figures = run_lab("tests.reliability.crashlab", by_depth(20, 300), SEED)

    assert int(figures["lost"]) == int(figures["duplicated"]) == int(figures["stuck"]) == int(figures["stale_accepted"]) == 0
    assert int(figures["stale_provoked"]) >= by_depth(0, 1)  # a short run need not meet a late worker
    assert int(figures["acked"]) > by_depth(0, 1000)  # few faults on a busy machine may kill most processes before they submit


@pytest.mark.parametrize("role", nemesis.FATES)
def test_a_seed_gives_the_same_faults_again(role: str) -> None:
    fate = list(islice(nemesis.faults(7, role, 0), 100))

    assert fate == list(islice(nemesis.faults(7, role, 0), 100))
    assert fate != list(islice(nemesis.faults(8, role, 0), 100))


def test_the_nemesis_knows_every_failpoint() -> None:
    known = {*nemesis.WORKER_POINTS, *nemesis.DESK_POINTS, *nemesis.CLERK_POINTS, *nemesis.FOUNDER_POINTS}

    assert known == JOB_POINTS


def test_a_run_that_was_only_too_weak_is_told_from_one_that_broke_a_promise() -> None:
    assert [exit_code(reasons) for reasons in ([], ["too weak: a"], ["too weak: a", "lost: 1"], ["hung: 1"])] == [
        0,
        TOO_WEAK,
        1,
        1,
    ]


def test_a_process_that_stops_slowly_while_it_still_started_is_not_taken_for_one_that_hangs(tmp_path: Path) -> None:
    """A server that was told to stop answers no longer, as one that has not started yet."""

    class SlowVictim(Victim):
        def signal(self, number: signal.Signals) -> None:
            signals.append(number)

        def has_ended(self) -> bool:
            return False

    signals: list[signal.Signals] = []
    toll = Toll(Journal(tmp_path / "journal.jsonl"))
    answers = iter([True])
    slot = Slot("server", iter([Terminate(1.0)]), lambda *_: SlowVictim(1), toll, lambda _: next(answers, False))

    for now in (0.0, 1.0, 1.5, 3.0, STOP_LIMIT):
        slot.step(now)

    assert signals == [signal.SIGTERM]
    assert toll.hung == 0
    slot.step(1.0 + STOP_LIMIT)
    assert toll.hung == 1


def test_a_fault_waits_while_the_team_has_done_too_little(tmp_path: Path) -> None:
    """On a busy machine faults came before any job was accepted, and a run tested nothing."""

    class IdleVictim(Victim):
        def signal(self, number: signal.Signals) -> None:
            signals.append(number)

        def has_ended(self) -> bool:
            return False

    signals: list[signal.Signals] = []
    slot = Slot("desk", iter([Kill(1.0)]), lambda *_: IdleVictim(1), Toll(Journal(tmp_path / "journal.jsonl")))

    for now in (0.0, 5.0, 50.0):
        slot.step(now, may_strike=False)
    assert signals == []

    slot.step(51.0)
    assert signals == [signal.SIGKILL]
