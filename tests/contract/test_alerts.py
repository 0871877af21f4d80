"""Every job of a kind with alerts that ends failed raises one, in the transaction that ends it. No other job does."""

from dataclasses import replace
from typing import Any

import pytest

from pressroom import kind
from pressroom.model import Claim, GaveUp, Retry, Statement, Work
from pressroom.store.alerts import alerts
from pressroom.store.alerts.alerts import Alert
from pressroom.store.engine import fsck
from pressroom.store.jobs import claiming, rescue
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement, cancel, settle
from pressroom.store.jobs.rescue import LostJob
from pressroom.store.operators.audit import AuditEntry
from tests import looking
from tests.contract.races import Side, Track, new, track_on
from tests.machine.kinds import make_kinds
from tests.service.queue_stage import BAD, GOOD, HALF, STOPPED, Floor, build, floor

ACK = AuditEntry(who="ann", action="alert.ack", target="alert 1")


@kind("bill", alert=True, max_attempts=2)
def bill(job: object, payload: Any) -> None: ...


KINDS = {"bill": bill, "build": build}


async def raised(stage: Floor, **chosen: Any) -> list[Alert]:
    return await stage.press._database.read(lambda: alerts.list_alerts(None, **chosen))


async def violations(stage: Floor, database: str) -> list[Any]:
    dialect = "sqlite" if database.startswith("sqlite") else "postgres"
    return await stage.press._database.read(lambda: fsck.audit(dialect))


async def test_a_final_failure_raises_an_alert_and_no_other_ending_does(database: str) -> None:  # R30
    async with floor(database, kinds=KINDS) as stage:
        for outcome in (GOOD, HALF, STOPPED):
            await stage.end(outcome, "bill")
        await stage.end(BAD, "build")  # its kind raises none
        tried_again = await stage.start("bill")
        await stage.run(settle([Settlement(tried_again, Retry({"code": "x", "message": "no", "attempt": 1}, 60.0))], KINDS))
        assert await raised(stage) == []

        failed = await stage.end(BAD, "bill", subject="Offer 7", org_id="acme")

        (alert,) = await raised(stage)
        found = await violations(stage, database)
    assert (alert.org_id, alert.kind, alert.subject, alert.code, alert.message) == (
        "acme", "bill", "Offer 7", "handler_error", "no",
    )  # fmt: skip
    assert (alert.count, alert.job, alert.is_open) == (1, failed.uid, True)
    assert found == []


async def test_another_failure_raises_the_count_of_the_open_alert(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        first = await stage.end(BAD, "bill", subject="Offer 7")
        await stage.end(BAD, "bill", subject="Offer 8")
        await stage.end(GaveUp({"code": "timeout", "message": "no"}), "bill", subject="Offer 7")
        await stage.end(BAD, "bill", subject="Offer 7", org_id="acme")
        last = await stage.end(GaveUp({"code": "handler_error", "message": "not again"}), "bill", subject="Offer 7")
        found = await raised(stage)

    same = [one for one in found if (one.org_id, one.subject, one.code) == (None, "Offer 7", "handler_error")]
    assert len(found) == 4
    assert [(one.count, one.job, one.message) for one in same] == [(2, last.uid, "not again")]
    assert same[0].first_at < same[0].last_at
    assert first.uid != last.uid


async def test_alike_failures_of_one_transaction_are_one_alert(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        claims = [await stage.start("bill", subject=subject) for subject in ("a", "b", "a")]
        await stage.run(settle([Settlement(claim, BAD) for claim in claims], KINDS))
        found = await raised(stage)

    assert {one.subject: (one.count, one.job) for one in found} == {"a": (2, claims[2].uid), "b": (1, claims[1].uid)}


async def test_after_an_acknowledgement_the_next_failure_opens_another(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        await stage.end(BAD, "bill")
        (first,) = await raised(stage)
        acked = await stage.run(alerts.ack(first.id, ACK))
        again = await stage.run(alerts.ack(first.id, replace_who("bob")))
        await stage.end(BAD, "bill")
        found = await raised(stage)
        entries = looking.rows(database, "SELECT who, action FROM audit")

    assert (acked.acked_by, again.acked_by, again.acked_at) == ("ann", "ann", acked.acked_at)
    assert [(one.is_open, one.count) for one in found] == [(True, 1), (False, 1)]
    assert [tuple(entry) for entry in entries] == [("ann", "alert.ack")]


def replace_who(who: str) -> AuditEntry:
    return AuditEntry(who=who, action="alert.ack", target="alert 1")


async def test_to_acknowledge_all_leaves_out_what_failed_after_the_look(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        await stage.end(BAD, "bill", subject="seen")
        await stage.end(BAD, "bill", subject="seen, then worse")
        await stage.end(BAD, "bill", subject="of another", org_id="acme")
        until = stage.clock.now_ms()
        stage.clock.advance(seconds=5)
        await stage.end(BAD, "bill", subject="seen, then worse")
        count = await stage.run(alerts.ack_all("", ACK, until=until))
        left = await raised(stage, is_open=True)

    assert count == 1
    assert {one.subject for one in left} == {"seen, then worse", "of another"}


async def test_a_rescue_that_gives_up_raises_one_also_where_the_kind_is_not_known(database: str) -> None:  # R30
    async with floor(database, kinds=KINDS) as stage:
        claim = await stage.start("bill", worker="gone")
        for _ in range(3):
            lost = LostJob(claim.id, claim.token, claim.kind, "gone", True, claim.crashes)
            await stage.run(rescue.rescue(lost, {}, 0))
            if await raised(stage):
                break
            claim = await _claim_again(stage)
        (alert,) = await raised(stage)
        found = await violations(stage, database)

    assert (alert.code, alert.job, alert.count) == ("worker_crash", claim.uid, 1)
    assert found == []


async def _claim_again(stage: Floor) -> Claim:
    stage.clock.advance(seconds=120)
    (claim,) = await stage.run(claiming.claim("gone", ["bill"], FreeSlots(1, 1), 60_000))
    return claim


async def test_a_cancel_raises_none_even_if_the_attempt_fails_afterwards(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        queued = await stage.press.submit("bill")
        await stage.run(cancel(queued.uid, KINDS, "never mind"))
        running = await stage.start("bill")
        await stage.run(cancel(running.uid, KINDS, "never mind"))
        await stage.run(settle([Settlement(running, BAD)], KINDS))
        found = await raised(stage)

    assert found == []


async def test_what_is_rolled_back_raises_nothing(database: str) -> None:
    def fail() -> Any:
        yield from settle([Settlement(claim, BAD)], KINDS)
        raise RuntimeError("between the alert and the commit")

    async with floor(database, kinds=KINDS) as stage:
        claim = await stage.start("bill")
        with pytest.raises(RuntimeError):
            await stage.run(fail())
        assert await raised(stage) == []
        await stage.run(settle([Settlement(claim, BAD)], KINDS))
        assert len(await raised(stage)) == 1


async def test_a_kind_that_stops_raising_alerts_raises_none(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        await stage.run(kind_rows.register({"bill": replace(bill, alert=False)}))
        await stage.end(BAD, "bill")
        stage.clock.advance(seconds=1)
        await stage.run(kind_rows.register(KINDS))
        none_yet = await raised(stage)
        found = await violations(stage, database)
        await stage.end(BAD, "bill")
        one = await raised(stage)

    assert (none_yet, found, len(one)) == ([], [], 1)


async def test_fsck_finds_a_failure_without_an_alert(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        failed = await stage.end(BAD, "bill")
        looking.change(database, "DELETE FROM alert")
        found = await violations(stage, database)

    assert [(one.check, one.job) for one in found] == [("failed_without_an_alert", failed.uid)]


async def test_acknowledged_alerts_are_deleted_after_a_while_and_open_ones_are_kept(database: str) -> None:
    a_day = 86_400_000
    async with floor(database, kinds=KINDS) as stage:
        await stage.end(BAD, "bill", subject="acknowledged")
        await stage.run(alerts.ack((await raised(stage))[0].id, ACK))
        await stage.end(BAD, "bill", subject="open")
        stage.clock.advance(days=29)
        assert await stage.run(alerts.forget(30 * a_day, 100)) == 0
        stage.clock.advance(days=2)
        assert await stage.run(alerts.forget(30 * a_day, 100)) == 1
        assert [one.subject for one in await raised(stage)] == ["open"]


async def test_an_alert_outlives_its_job(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        await stage.end(BAD, "bill")
        (before,) = await raised(stage)
        stage.clock.advance(days=30)
        await stage.run(rescue.prune(10))
        (after,) = await raised(stage)
        found = await violations(stage, database)

    assert before.print is not None
    assert (after.print, after.is_open, found) == (None, True, [])


def test_two_that_fail_at_once_are_one_alert_that_counts_both(on_server: str) -> None:  # R30
    """Both begin beside each other, which turns do not do with such failures: the index decides, not the lock."""
    world = make_kinds(lambda _: None)
    pack = {"pack": replace(world["pack"], alert=True)}
    with track_on(on_server) as track:
        for _, met in track.every_order(
            lambda: _two_claims(track, pack), lambda two: _fails(two[0]), lambda two: _fails(two[1])
        ):
            assert [settled.status for (settled,) in met] == ["failed", "failed"]
            assert track.rows("SELECT count FROM alert") == [(2,)]


def _two_claims(track: Track, kinds: Any) -> list[Claim]:
    track.do(kind_rows.register(kinds))
    track.do(_forget_alerts())
    track.submit(new(1), new(2))
    return track.claim()


def _forget_alerts() -> Work[None]:
    yield Statement("DELETE FROM alert")


def _fails(claim: Claim) -> Side:
    return Side(settle([Settlement(claim, BAD)], {}), shared_lock=True)
