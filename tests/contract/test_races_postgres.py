"""Two that meet on a server: in every order in which their statements can fall, what each of them is told is true."""

from collections.abc import Iterator
from typing import Any

import pytest

from pressroom.errors import ClaimLost, NotFound
from pressroom.model import Answer, Claim, Status, Succeeded
from pressroom.store.jobs import claiming, endings, progress, rescue, submitting
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.store.jobs.endings import Settlement
from pressroom.store.jobs.rescue import LostJob
from pressroom.submission.request import copy_for_retry
from tests.contract.races import KINDS, PLENTY, Side, Track, new, track_on
from tests.machine.broken import Mistake
from tests.machine.kinds import EVERY_KIND, HOUR, HOURLY, LEASE

ENDINGS = "SELECT job_id, count(*) FROM job_event WHERE type IN ('completed', 'failed', 'cancelled') GROUP BY job_id"


@pytest.fixture
def track(on_server: str) -> Iterator[Track]:
    with track_on(on_server) as track:
        yield track


def claims(worker: str, *, shared_lock: bool) -> Side:
    take = claiming.claim_concurrently if shared_lock else claiming.claim
    return Side(take(worker, EVERY_KIND, PLENTY, LEASE), shared_lock)


def settles(*held: Claim) -> Side:
    settlements = [Settlement(claim, Succeeded('"done"')) for claim in held]
    return Side(endings.settle(settlements, KINDS), all(endings.changes_only_own_row(claim, KINDS) for claim in held))


def holders(track: Track) -> list[Any]:
    return track.rows("SELECT id, worker, claim FROM job WHERE status = 'in_progress' ORDER BY id")


def the_status(track: Track) -> str:
    ((status,),) = track.rows("SELECT status FROM job")
    return str(status)


@pytest.mark.parametrize(("one", "other"), [(True, True), (True, False), (False, False)], ids=["shared", "mixed", "alone"])
def test_no_job_is_given_to_two_workers(track: Track, one: bool, other: bool) -> None:
    """I4: what two claim at once is divided between them, and nothing that was ready is left."""

    def five_of_which_four_are_ready() -> None:
        track.submit(*(new(number) for number in range(3)), *(new(number, "wiki", key="a") for number in (3, 4)))
        track.submit(new(5, "index", key="a"))

    for _, met in track.every_order(
        five_of_which_four_are_ready, lambda _: claims("w1", shared_lock=one), lambda _: claims("w2", shared_lock=other)
    ):
        given = sorted(
            [(claim.id, "w1", claim.token) for claim in met.one] + [(claim.id, "w2", claim.token) for claim in met.other]
        )
        assert given == holders(track)
        assert len(given) == 4


def test_the_race_between_two_claims_is_hard_enough_to_be_lost(on_server: str) -> None:
    """Without the lock, the second waits for the first and then takes the same jobs: the test above would see it."""
    lock = "FOR NO KEY UPDATE SKIP LOCKED"
    careless = Mistake("claim_without_a_lock", "I4", "claim_next", lock, "")
    with careless.made("postgres"), track_on(on_server) as track:
        races = track.every_order(
            lambda: track.submit(new(1)), lambda _: claims("w1", shared_lock=True), lambda _: claims("w2", shared_lock=True)
        )
        assert any(met.one and met.other for _, met in races)


@pytest.mark.parametrize("kind", ["pack", "wiki"], ids=["shared", "alone"])
def test_a_job_is_settled_or_rescued_never_both(track: Track, kind: str) -> None:
    """I3, I4: the lease ran out, but the worker lives and settles while the chore takes the job away."""

    def held_too_long() -> tuple[Claim, LostJob]:
        track.submit(new(1, kind, key="a" if kind == "wiki" else None))
        (claim,) = track.claim()
        track.pass_time(LEASE + 1)
        (lost,) = track.do(rescue.find_lost(()))
        return claim, lost

    for _, met in track.every_order(
        held_too_long, lambda start: settles(start[0]), lambda start: Side(rescue.rescue(start[1], KINDS, 0.0))
    ):
        (settled,) = met.one
        assert (settled.status, met.other) in [(Status.COMPLETED, None), (None, Status.QUEUED)]
        assert track.rows("SELECT status, crashes FROM job") == [("queued", 1) if settled.status is None else ("completed", 0)]


def test_a_lease_is_renewed_or_lost_never_both(track: Track) -> None:
    """I5: whoever shows life in time keeps its job; whoever does not is told."""

    def silent() -> tuple[Claim, LostJob]:
        track.submit(new(1))
        (claim,) = track.claim()
        track.pass_time(LEASE + 1)
        (lost,) = track.do(rescue.find_lost(()))
        return claim, lost

    for (claim, _), met in track.every_order(
        silent,
        lambda start: Side(claiming.renew([(start[0].id, start[0].token)]), shared_lock=True),
        lambda start: Side(rescue.rescue(start[1], KINDS, 0.0)),
    ):
        assert (met.one, met.other) in [({(claim.id, claim.token): False}, None), ({}, Status.QUEUED)]


@pytest.mark.parametrize("kind", ["pack", "wiki"], ids=["shared", "alone"])
def test_a_cancel_wins_or_loses_whole(track: Track, kind: str) -> None:
    """I19, I3: never cancelled and then completed, and one ending in the history."""

    def running() -> Claim:
        track.submit(new(1, kind))
        (claim,) = track.claim()
        return claim

    for _, met in track.every_order(
        running, lambda claim: Side(endings.cancel(claim.uid, KINDS, "unwanted")), lambda claim: settles(claim)
    ):
        (settled,) = met.other
        assert settled.status in (Status.CANCELLED, Status.COMPLETED)
        assert the_status(track) == settled.status
        assert track.rows("SELECT cancel_requested FROM job") == [(int(settled.status is Status.CANCELLED),)]
        assert [count for _, count in track.rows(ENDINGS)] == [1]


@pytest.mark.parametrize("shared_lock", [True, False], ids=["shared", "alone"])
def test_a_cancelled_job_is_not_started(track: Track, shared_lock: bool) -> None:
    """I19: a cancel of a queued job and a claim of it: one comes first, and the other is told."""
    for _, met in track.every_order(
        lambda: track.submit(new(1)),
        lambda _: Side(endings.cancel(new(1).uid, KINDS, "unwanted")),
        lambda _: claims("w", shared_lock=shared_lock),
    ):
        assert the_status(track) == ("in_progress" if met.other else "cancelled")
        assert track.rows("SELECT cancel_requested FROM job") == [(1,)]


@pytest.mark.parametrize("shared_lock", [True, False], ids=["shared", "alone"])
def test_the_newest_payload_is_the_last_to_be_rendered(track: Track, shared_lock: bool) -> None:
    """I8, I9: a submit meets a claim of the job that it would coalesce with. The claim has the newer text, or a successor."""
    for _, met in track.every_order(
        lambda: track.submit(new(1, "wiki", key="a")),
        lambda _: Side(submitting.submit(new(2, "wiki", key="a"))),
        lambda _: claims("w", shared_lock=shared_lock),
    ):
        (claim,) = met.other
        queued = track.rows("SELECT body FROM job JOIN job_payload ON job_id = id WHERE status = 'queued'")
        assert (met.one.answer, claim.payload, claim.version, queued) in [
            (Answer.COALESCED, '"2"', 2, []),
            (Answer.NEW, '"1"', 1, [('"2"',)]),
        ]


def test_the_same_input_is_rendered_once(track: Track) -> None:
    """I11: of two who submit it at once, one is new and the other joins it."""
    for _, met in track.every_order(
        lambda: None,
        lambda _: Side(submitting.submit(new(1, source="x"))),
        lambda _: Side(submitting.submit(new(2, source="x"))),
    ):
        assert {met.one.answer, met.other.answer} == {Answer.NEW, Answer.JOINED}
        assert met.one.uid == met.other.uid
        assert track.rows("SELECT count(*) FROM job") == [(1,)]


def test_an_input_whose_render_ends_just_now_is_not_rendered_again(track: Track) -> None:
    """I11: joined while it runs, a hit once it has ended; there is no moment between the two."""

    def running() -> Claim:
        track.submit(new(1, source="x"))
        (claim,) = track.claim()
        return claim

    for claim, met in track.every_order(running, settles, lambda _: Side(submitting.submit(new(2, source="x")))):
        assert met.one[0].status is Status.COMPLETED
        assert (met.other.uid, met.other.answer in (Answer.HIT, Answer.JOINED)) == (claim.uid, True)


@pytest.mark.parametrize(
    ("kind", "second", "jobs_there"),
    [("wiki", Answer.COALESCED, 1), ("index", Answer.SKIPPED, 1), ("pack", Answer.NEW, 2)],
    ids=["coalesce", "skip", "line_up"],
)
def test_two_submits_of_a_key_meet(track: Track, kind: str, second: Answer, jobs_there: int) -> None:
    """I8: the second finds the first, whichever it is; and of a line one may start."""
    for _, met in track.every_order(
        lambda: None,
        lambda _: Side(submitting.submit(new(1, kind, key="a"))),
        lambda _: Side(submitting.submit(new(2, kind, key="a"))),
    ):
        assert sorted([met.one.answer, met.other.answer]) == sorted([Answer.NEW, second])
        assert track.rows("SELECT count(*), count(*) FILTER (WHERE waits_for IS NULL) FROM job") == [(jobs_there, 1)]


def test_numbers_are_given_once(track: Track) -> None:
    """I4, and the order of the line: two who submit many beside each other get numbers of their own, and their own payloads."""

    def submits(*numbers: int) -> Side:
        return Side(submitting.insert_new_jobs([new(number) for number in numbers]), shared_lock=True)

    for _, met in track.every_order(lambda: None, lambda _: submits(1, 2, 3), lambda _: submits(4, 5)):
        told = sorted((answer.id, answer.uid) for answer in (*met.one, *met.other))
        assert told == track.rows("SELECT id, uid FROM job ORDER BY id")
        assert all(
            int(uid) == int(body.strip('"'))
            for uid, body in track.rows("SELECT uid, body FROM job JOIN job_payload ON job_id = id")
        )


def test_those_who_hold_the_same_jobs_never_wait_for_each_other_in_a_circle(track: Track) -> None:
    """I4, I5: a heartbeat names its jobs in one order, the settle in the other; both are rows of the same worker."""

    def two_running() -> list[Claim]:
        track.submit(new(1), new(2))
        return track.claim()

    for held, met in track.every_order(
        two_running,
        lambda held: settles(*held),
        lambda held: Side(claiming.renew([(claim.id, claim.token) for claim in reversed(held)]), shared_lock=True),
    ):
        assert [settled.status for settled in met.one] == [Status.COMPLETED] * 2
        assert met.other in ({}, {(claim.id, claim.token): False for claim in held})


def test_an_item_is_moved_for_the_holder_or_refused(track: Track) -> None:
    """I4, I23: a worker tells of an item while its job is taken away."""

    def with_items() -> tuple[Claim, LostJob]:
        track.submit(new(1))
        (claim,) = track.claim()
        track.do(progress.begin_items(claim.id, claim.token, "editions", "editions", ["main"], None))
        track.pass_time(LEASE + 1)
        (lost,) = track.do(rescue.find_lost(()))
        return claim, lost

    for _, met in track.every_order(
        with_items,
        lambda start: Side(
            progress.move_item(start[0].id, start[0].token, "editions", "main", "completed", None), shared_lock=True
        ),
        lambda start: Side(rescue.rescue(start[1], KINDS, 0.0)),
    ):
        assert met.other is Status.QUEUED
        moved = met.one is False
        assert moved or isinstance(met.one, ClaimLost)
        assert track.rows("SELECT state FROM job_item") == [("completed" if moved else "in_progress",)]


def test_an_item_is_not_moved_once_its_job_has_ended(track: Track) -> None:
    """I4, I23: both go beside each other, so the job may end between the look at the claim and the move of the item."""

    def with_items() -> Claim:
        track.submit(new(1))
        (claim,) = track.claim()
        track.do(progress.begin_items(claim.id, claim.token, "editions", "editions", ["main"], None))
        return claim

    for _, met in track.every_order(
        with_items,
        lambda claim: Side(progress.move_item(claim.id, claim.token, "editions", "main", "completed", None), shared_lock=True),
        lambda claim: settles(claim),
    ):
        (settled,) = met.other
        assert settled.status is Status.COMPLETED
        moved = met.one is False
        assert moved or isinstance(met.one, ClaimLost)
        assert track.rows("SELECT state FROM job_item") == [("completed" if moved else "in_progress",)]
        assert track.rows("SELECT type FROM job_event ORDER BY id DESC LIMIT 1") == [("completed",)]


def test_a_tick_fires_once(track: Track) -> None:
    """I22: two leaders, one job."""
    tick = 500_000 * HOUR

    def fires(number: int) -> Side:
        return Side(schedule_rows.fire(HOURLY, tick, new(number, "index")))

    for _, met in track.every_order(
        lambda: track.do(schedule_rows.save_schedule(HOURLY)), lambda _: fires(1), lambda _: fires(2)
    ):
        assert {met.one, met.other} == {True, False}
        assert track.rows("SELECT job FROM schedule_tick") == track.rows("SELECT uid FROM job")


def test_what_is_pruned_is_retried_before_or_not_found(track: Track) -> None:
    """I20: whoever retries a job while it is pruned is told of one that stays."""

    def long_ended() -> None:
        track.submit(new(1))
        track.do(settles(*track.claim()).work)
        track.pass_time(70_000)

    def retries() -> Side:
        def no_limit(_new: Any) -> Any:
            yield from ()

        return Side(submitting.retry(new(1).uid, copy_for_retry, no_limit))

    for _, met in track.every_order(long_ended, lambda _: Side(rescue.prune(100)), lambda _: retries()):
        assert met.one == 1
        there = track.rows("SELECT uid, status FROM job")
        assert there == ([] if isinstance(met.other, NotFound) else [(met.other.uid, "queued")])


def test_whoever_waits_in_line_is_let_forward_once(track: Track) -> None:
    """Never two of a key in progress: the holder ends while another of its key is cancelled and a third claimed."""

    def one_runs_and_two_wait() -> Claim:
        track.submit(*(new(number, "pack", key="a") for number in (1, 2, 3)))
        (claim,) = track.claim()
        return claim

    for _, met in track.every_order(
        one_runs_and_two_wait, settles, lambda _: Side(endings.cancel(new(2).uid, KINDS, "unwanted"))
    ):
        assert met.one[0].status is Status.COMPLETED
        assert track.rows("SELECT uid FROM job WHERE status = 'queued' AND waits_for IS NULL") == [(new(3).uid,)]
