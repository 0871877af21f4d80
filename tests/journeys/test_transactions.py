"""An application's own rows and its jobs change together: at the submit, and at the end."""

import asyncio
import logging
import queue
import threading
from contextlib import suppress
from datetime import timedelta

import pytest

from pressroom import Backoff, OnKey, Pressroom, Request, Result, SourceInvalid, Statement, Status, kind
from pressroom.errors import TransactionExpired
from pressroom.model import GaveUp, Retry, Stopped, Succeeded
from pressroom.store.engine import writer
from pressroom.store.jobs import claiming
from pressroom.testing import ManualClock, end_deferred_cancels
from tests.journeys.stage import endings

ERROR = {"attempt": 1, "code": "transient", "message": "not now"}
PAGES = "CREATE TABLE page (uid TEXT, status TEXT, version INTEGER, text TEXT, error TEXT, org TEXT)"


@kind("shout")
async def shout(job, payload):
    return payload.upper()


def write_page(ending):
    yield Statement(
        "INSERT INTO page VALUES (:uid, :status, :version, :text, :error, :org)",
        {
            "uid": ending.uid,
            "status": ending.status,
            "version": ending.version,
            "text": ending.result if ending.status is Status.COMPLETED else ending.payload,
            "error": ending.error["code"] if ending.error else None,
            "org": ending.org_id,
        },
    )


def break_down(ending):
    raise RuntimeError("the application's own table is gone")
    yield


async def rows(press, sql):
    async with press.transaction() as tx:
        return await tx.execute(sql)


async def with_pages(press):
    async with press.transaction() as tx:
        await tx.execute(PAGES)


async def test_a_row_and_the_job_about_it_are_committed_together(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        async with press.transaction() as tx:
            await tx.execute("CREATE TABLE article (id INTEGER PRIMARY KEY, text TEXT)")
            ((id,),) = await tx.execute("INSERT INTO article VALUES (1, :text) RETURNING id", {"text": "hi"})
            job = await press.submit("shout", "hi", subject=f"article {id}", within=tx)

        assert await press.wait(job) == "HI"
        assert await rows(press, "SELECT id, text FROM article") == [(1, "hi")]


async def test_an_error_in_the_block_leaves_neither_the_row_nor_the_job(anywhere):
    ran = []

    @kind("note")
    async def note(job, payload):
        ran.append(payload)

    async with Pressroom(anywhere, kinds=[note], workers=1) as press:
        await with_pages(press)
        inside = []

        async def save():
            async with press.transaction() as tx:
                await tx.execute("INSERT INTO page (text) VALUES ('half')")
                inside.append(await press.submit("note", "half", within=tx))
                inside.extend(await press.submit_many([Request("note", "half")], within=tx))
                raise ValueError("the author changed her mind")

        with pytest.raises(ValueError, match="changed her mind"):
            await save()

        assert len(inside) == 2
        assert await rows(press, "SELECT * FROM page") == []
        assert (await press.list()).jobs == []
        await press.wait(await press.submit("note", "whole"))
        assert ran == ["whole"]


async def test_nobody_sees_the_job_and_no_worker_takes_it_before_the_commit(database, eventually):
    ran = asyncio.Event()

    @kind("note")
    async def note(job, payload):
        ran.set()

    async with (
        Pressroom(database, kinds=[note], workers=1, poll_interval=0.005) as press,
        Pressroom(database, workers=None) as elsewhere,
    ):
        looks = []
        async with press.transaction() as tx:
            job = await press.submit("note", within=tx)
            for _ in range(20):
                looks += (await elsewhere.list()).jobs
            assert not ran.is_set()

        await press.wait(job)
        assert looks == []
        assert ran.is_set()


async def test_a_job_is_announced_once_and_after_the_commit(anywhere, monkeypatch):
    """A worker that hears of it earlier finds nothing, and may not look again for a while."""
    announced = []

    def announce(jobs):
        if jobs:  # without jobs it is the listener, at any time: another connection has committed something
            announced.append([job.uid for job in jobs])

    async with Pressroom(anywhere, kinds=[shout], workers=None) as press:
        monkeypatch.setattr(press._delivery, "announce", announce)
        async with press.transaction() as tx:
            first = await press.submit("shout", "a", within=tx)
            many = await press.submit_many([Request("shout", "b"), Request("shout", "c")], within=tx)
            assert announced == []
        assert announced == [[first.uid], [job.uid for job in many]]

        with suppress(ZeroDivisionError):
            async with press.transaction() as tx:
                await press.submit("shout", "d", within=tx)
                1 / 0  # noqa: B018
        assert len(announced) == 2, "what was rolled back is not announced"


async def test_a_statement_that_fails_may_be_caught_and_the_rest_still_counts(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        await with_pages(press)
        async with press.transaction() as tx:
            await tx.execute("INSERT INTO page (text) VALUES ('one')")
            with pytest.raises(Exception, match="nowhere"):
                await tx.execute("INSERT INTO nowhere VALUES (1)")
            await tx.execute("INSERT INTO page (text) VALUES ('two')")

        assert await rows(press, "SELECT text FROM page") == [("one",), ("two",)]


async def test_a_transaction_that_is_held_too_long_is_rolled_back_and_says_so(anywhere, monkeypatch):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        await with_pages(press)

        async def hold_on():
            async with press.transaction() as tx:
                await tx.execute("INSERT INTO page (text) VALUES ('held')")
                while True:
                    await tx.execute("SELECT 1")

        with monkeypatch.context() as brief:
            brief.setattr(writer, "HOLD_LIMIT", 0.05)
            with pytest.raises(TransactionExpired):
                await hold_on()

        assert await rows(press, "SELECT * FROM page") == []


async def test_whoever_waited_behind_a_transaction_that_expired_goes_on(anywhere, monkeypatch):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        await with_pages(press)
        went_on = []

        async def forget_to_end():
            async with press.transaction() as tx:
                await tx.execute("INSERT INTO page (text) VALUES ('held')")
                went_on.append(await press.submit("shout", "behind it"))  # not `within`: it waits for the writer

        with monkeypatch.context() as brief:
            brief.setattr(writer, "HOLD_LIMIT", 0.05)
            while not went_on:  # on a busy machine it may expire before its statement
                with pytest.raises(TransactionExpired):
                    await forget_to_end()

        assert await press.wait(went_on[0]) == "BEHIND IT"
        assert await rows(press, "SELECT * FROM page") == []


async def test_a_statement_that_comes_in_the_moment_of_expiry_is_refused_and_not_forgotten(anywhere, monkeypatch):
    """The transaction was still open when the caller looked, and over when its statement arrived."""
    monkeypatch.setattr(writer, "HOLD_LIMIT", 0.05)
    async with Pressroom(anywhere, kinds=[shout], workers=None) as press:

        async def come_late():
            async with press.transaction() as tx:
                inbox, emptied = tx._held.inbox, threading.Event()
                put, get_nowait = inbox.put, inbox.get_nowait

                def look_for_late_ones():
                    try:
                        return get_nowait()
                    except queue.Empty:
                        emptied.set()
                        raise

                def arrive_after_everything(request):
                    emptied.wait(timeout=60)
                    put(request)

                inbox.get_nowait, inbox.put = look_for_late_ones, arrive_after_everything
                async with asyncio.timeout(120):
                    await tx.execute("SELECT 1")

        with pytest.raises(TransactionExpired):
            await come_late()


async def test_a_caller_that_went_away_before_its_turn_holds_nobody_up(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:

        async def enter():
            async with press.transaction():
                raise AssertionError("it was cancelled before its turn came")

        async with press.transaction():
            waiting = asyncio.create_task(enter())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

        async with asyncio.timeout(writer.HOLD_LIMIT / 2):  # it would wait this long for the one who is gone
            job = await press.submit("shout", "next")
        assert await press.wait(job) == "NEXT"


# D29
async def test_the_applications_row_is_written_when_a_job_completes_fails_or_is_cancelled(anywhere, gate, eventually):
    @kind("page", settling=write_page, max_attempts=1)
    async def page(job, payload):
        if payload == "wrong":
            raise SourceInvalid("no")
        if payload == "slow":
            await gate.hold()
        return f"<p>{payload}</p>"

    async with Pressroom(anywhere, kinds=[page], workers=2) as press:
        await with_pages(press)
        good = await press.submit("page", "good", org_id="acme")
        wrong = await press.submit("page", "wrong", org_id="acme")
        slow = await press.submit("page", "slow", org_id="acme")
        await eventually(lambda: gate.came)
        dated = await press.submit("page", "dated", org_id="acme", delay=timedelta(days=1))
        await press.cancel(slow)
        await press.cancel(dated)
        for job in (good, wrong, slow, dated):
            await press.wait_until_ended(job)

        written = {uid: rest for uid, *rest in await rows(press, "SELECT * FROM page")}

    assert written == {
        good.uid: ["completed", 1, "<p>good</p>", None, "acme"],
        wrong.uid: ["failed", 1, "wrong", "source_invalid", "acme"],
        slow.uid: ["cancelled", 1, "slow", None, "acme"],
        dated.uid: ["cancelled", 1, "dated", None, "acme"],
    }


# D29
def test_the_applications_row_is_written_when_a_job_is_parked_because_its_workers_died(steps):
    @kind("page", settling=write_page, max_crashes=2)
    async def page(job, payload):
        return payload

    store = steps(page)
    store.store.raw.execute(PAGES)
    job = store.submit("page", "poison")
    for _ in range(2):
        assert store.store.raw.execute("SELECT * FROM page").fetchall() == []
        store.claim_one(lease=15)
        store.clock.advance(seconds=16)
        store.rescue()

    written = store.store.raw.execute("SELECT uid, status, error FROM page").fetchall()
    assert written == [(job.uid, "failed", "worker_crash")]


# D29
def test_the_applications_row_is_written_when_a_job_makes_way_for_a_newer_one(steps):
    @kind("page", settling=write_page)
    async def page(job, payload):
        return payload

    store = steps(page)
    store.store.raw.execute(PAGES)
    old = store.submit("page", "old", key="/Home")
    running = store.claim_one()
    store.submit("page", "new", key="/Home")
    store.settle(running, Retry(ERROR, wait=1))

    written = store.store.raw.execute("SELECT uid, status, error FROM page").fetchall()
    assert written == [(old.uid, "cancelled", "superseded")]


def test_a_job_that_goes_back_to_the_queue_writes_no_row(steps):
    @kind("page", settling=write_page)
    async def page(job, payload):
        return payload

    store = steps(page)
    store.store.raw.execute(PAGES)
    store.submit("page", "hi")
    store.settle(store.claim_one(), Retry(ERROR, wait=0))

    assert store.store.raw.execute("SELECT * FROM page").fetchall() == []


@pytest.mark.parametrize("outcome", [Succeeded('"done"'), GaveUp(ERROR), Stopped("cancelled")])
def test_the_row_and_the_ending_are_one_change(steps, outcome):
    """Where the hook fails the whole settling is undone: never one without the other."""

    @kind("page", settling=break_down)
    async def page(job, payload):
        return payload

    store = steps(page)
    job = store.submit("page", "hi")
    claim = store.claim_one()

    with pytest.raises(RuntimeError):
        store.settle(claim, outcome)

    assert store.get(job).status is Status.IN_PROGRESS
    assert endings(store.history(job)) == []


async def test_the_hook_is_told_of_no_organisation_as_the_handler_is(anywhere):
    told = []

    def remember(ending):
        told.append(ending)
        return
        yield

    @kind("page", settling=remember)
    async def page(job, payload):
        return job.org_id

    async with Pressroom(anywhere, kinds=[page], workers=1) as press:
        seen_by_the_handler = await press.wait(await press.submit("page", {"revision": 7}, key="/Home", subject="Home"))

    (ending,) = told
    assert (ending.payload, ending.key, ending.subject) == ({"revision": 7}, "/Home", "Home")
    assert seen_by_the_handler is None
    assert ending.org_id is None


async def test_what_is_made_aside_is_told_to_the_hook_and_kept_nowhere_else(anywhere):
    told = []

    def settle(ending):
        told.append((ending.result, ending.for_hook))
        yield Statement("UPDATE page SET text = text")

    @kind("page", settling=settle)
    async def page(job, payload):
        await job.items("parts", ["one"])
        if payload == "partly":
            await job.item_failed("one", "no")
        return Result({"size": 3_000_000}, "x" * 3_000_000)

    async with Pressroom(anywhere, kinds=[page], workers=1) as press:
        await with_pages(press)
        whole = await press.wait_until_ended(await press.submit("page", "wholly"), timeout=60)
        partly = await press.wait_until_ended(await press.submit("page", "partly"), timeout=60)

    assert (whole.status, partly.status) == (Status.COMPLETED, Status.COMPLETED_WITH_ERRORS)
    assert whole.result == partly.result == {"size": 3_000_000}
    assert [(result, len(for_hook)) for result, for_hook in told] == [({"size": 3_000_000}, 3_000_000)] * 2


async def test_a_hook_that_raises_fails_its_own_job_and_spoils_no_neighbours(anywhere, caplog):
    @kind("broken", settling=break_down, max_attempts=2, backoff=Backoff(base=0, jitter=0))
    async def broken(job, payload):
        return "rendered, but not kept"

    with caplog.at_level(logging.CRITICAL, logger="pressroom.worker"):
        async with Pressroom(anywhere, kinds=[broken, shout], workers=4) as press:
            requests = [Request("broken") if number % 5 == 0 else Request("shout", f"n{number}") for number in range(40)]
            jobs = await press.submit_many(requests)
            ended = [await press.wait_until_ended(job) for job in jobs]

    bad = ended[::5]
    good = [job for number, job in enumerate(ended) if number % 5]
    assert {job.status for job in bad} == {Status.FAILED}
    assert all(job.last_error.startswith("RuntimeError in the handler of broken") for job in bad)
    assert [job.result for job in good] == [f"N{number}" for number in range(40) if number % 5]
    assert {job.failures for job in good} == {0}


async def test_a_job_whose_hook_raises_ends_all_the_same_when_its_worker_died_too_often(anywhere, caplog):
    """It would otherwise be rescued once a second, for ever."""
    clock = ManualClock()

    @kind("broken", settling=break_down, max_crashes=1)
    async def broken(job, payload):
        return None

    with caplog.at_level(logging.CRITICAL, logger="pressroom.maintenance"):
        async with Pressroom(anywhere, kinds=[broken], workers=None, clock=clock) as press:
            job = await press.submit("broken")
            await press._database.run(
                lambda: claiming.claim("silent", ["broken"], claiming.FreeSlots(1, 1), 15_000), name="turn"
            )
            clock.advance(seconds=16)

            for _ in range(3):
                await press.maintenance.rescue()

            ended = await press.get(job)
    assert (ended.status, ended.errors[-1]["code"]) == (Status.FAILED, "worker_crash")


async def test_a_deferred_cancel_whose_hook_raises_does_not_keep_the_others_from_ending(database, caplog):
    @kind("broken", settling=break_down)
    async def broken(job, payload):
        return None

    @kind("page", settling=write_page)
    async def page(job, payload):
        return None

    with caplog.at_level(logging.CRITICAL):
        async with (
            Pressroom(database, kinds=[broken, page], workers=None) as press,
            Pressroom(database, workers=None) as stranger,
        ):
            await with_pages(press)
            spoiler, neighbour = await press.submit("broken", "x"), await press.submit("page", "y")
            for job in (spoiler, neighbour):
                await stranger.cancel(job)

            for _ in range(3):
                with suppress(RuntimeError):
                    await press.maintenance.rescue()

            assert (await press.get(neighbour)).status is Status.CANCELLED


def test_a_cancel_by_a_process_that_does_not_know_the_kind_is_left_to_one_that_does(steps):
    @kind("page", settling=write_page)
    async def page(job, payload):
        return None

    store = steps(page)
    store.store.raw.execute(PAGES)
    job = store.submit("page", "hi")

    marked = store.cancel(job, knowing=[])
    claimed = store.claim()
    history = store.history(job)
    ended = store.run(end_deferred_cancels(store.kinds))

    assert (marked.status, marked.cancel_requested) == (Status.QUEUED, True)
    assert (claimed, history) == ([], ["queued", "cancelling"]), "nobody starts what was cancelled, nor says so"
    assert ended == [job.id]
    assert store.get(job).status is Status.CANCELLED
    assert store.store.raw.execute("SELECT uid, status FROM page").fetchall() == [(job.uid, "cancelled")]


def test_a_deferred_cancel_does_not_stand_before_the_jobs_that_are_ready(steps):
    @kind("page", settling=write_page)
    async def page(job, payload):
        return None

    store = steps(page)
    unwanted, wanted = store.submit("page", "unwanted"), store.submit("page", "wanted")
    store.cancel(unwanted, knowing=[])

    assert [claim.uid for claim in store.claim(room=1)] == [wanted.uid]


def test_a_deferred_cancel_does_not_keep_its_key_from_the_next_in_line(steps):
    @kind("page", settling=write_page)
    async def page(job, payload):
        return None

    store = steps(page)
    store.store.raw.execute(PAGES)
    unwanted = store.submit("page", "unwanted", key="/Home")
    store.cancel(unwanted, knowing=[])
    wanted = store.submit("page", "wanted", key="/Home")
    store.run(end_deferred_cancels(store.kinds))

    assert store.claim_one().uid == wanted.uid


def test_a_deferred_cancel_lets_the_next_in_line_begin_at_once(steps):
    @kind("page", on_key=OnKey.LINE_UP, settling=write_page)
    async def page(job, payload):
        return None

    store = steps(page)
    unwanted, wanted = store.submit("page", "unwanted", key="/Home"), store.submit("page", "wanted", key="/Home")
    store.cancel(unwanted, knowing=[])

    assert store.claim_one().uid == wanted.uid


async def test_a_kind_without_a_hook_may_be_cancelled_by_anybody(database):
    async with (
        Pressroom(database, kinds=[shout], workers=None) as one,
        Pressroom(database, workers=None) as stranger,
    ):
        job = await one.submit("shout", "hi")

        assert (await stranger.cancel(job)).status is Status.CANCELLED
