"""A key names the thing that jobs change: never two at once, no update lost, and the newest wins."""

import asyncio
from collections import Counter
from datetime import timedelta
from random import Random
from types import SimpleNamespace

import pytest

from pressroom import (
    Answer,
    Backoff,
    JobCancelled,
    JobFailed,
    OnKey,
    Pressroom,
    Request,
    Statement,
    Status,
    Tier,
    Transient,
    kind,
    queue,
)
from pressroom.api.views import view
from pressroom.errors import InvalidArgument, WaitTimeout
from pressroom.model import GaveUp, Released, Result, Retry, Succeeded
from pressroom.store.jobs import endings, submitting
from pressroom.submission.request import copy_for_retry
from pressroom.worker import maintenance

ERROR = {"attempt": 1, "code": "transient", "message": "not now"}


async def nothing(job, payload):
    return payload


coalescing = kind("page", on_key=OnKey.COALESCE)(nothing)
lining_up = kind("ledger", on_key=OnKey.LINE_UP)(nothing)
skipping = kind("dashboard", on_key=OnKey.SKIP)(nothing)


# W13, W14, W15
async def test_the_newest_payload_takes_the_queued_jobs_place_in_the_line(anywhere):
    ran = []

    @kind("render", on_key=OnKey.COALESCE)
    async def render(job, payload):
        ran.append(payload)
        return payload

    async with Pressroom(anywhere, kinds=[render], workers=1) as press:
        await press.pause("render")
        first = await press.submit("render", {"page": "/Home", "revision": 1}, key="/Home")
        other = await press.submit("render", {"page": "/About", "revision": 1}, key="/About")
        before = await press.get(first)
        second = await press.submit("render", {"page": "/Home", "revision": 2}, key="/Home")
        after = await press.get(first)
        await press.resume("render")
        answers = [await press.wait(job) for job in (first, second, other)]

    assert (second.answer, second.uid) == (Answer.COALESCED, first.uid)
    assert (after.seq, after.date_created) == (before.seq, before.date_created)
    assert after.payload == {"page": "/Home", "revision": 2}
    assert [run["page"] for run in ran] == ["/Home", "/About"]
    assert answers[0] == answers[1] == {"page": "/Home", "revision": 2}


# D2
async def test_those_who_wait_learn_which_version_was_rendered(anywhere):
    async with Pressroom(anywhere, kinds=[coalescing], workers=1) as press:
        await press.pause("page")
        old = await press.submit("page", "one", key="/Home")
        new = await press.submit("page", "two", key="/Home")
        await press.resume("page")
        rendered = await press.wait_until_ended(old)

    assert (old.version, new.version) == (1, 2)
    assert (rendered.version, rendered.result) == (2, "two")
    assert old.version < rendered.version, "what the first caller brought was superseded, and it can tell"


# D2, D5
async def test_a_render_is_written_to_the_revision_that_was_rendered_and_to_no_other(anywhere):
    """The wiki's mistake was that every waiter stored the newest HTML under its own revision."""

    def store(ending):
        yield Statement(
            "UPDATE revision SET html = :html, status = 'rendered' WHERE id = :id",
            {"html": ending.result, "id": ending.payload["revision"]},
        )

    @kind("render", settling=store)
    async def render(job, payload):
        return f"<p>{payload['text']}</p>"

    async with Pressroom(anywhere, kinds=[render], workers=2) as press:
        async with press.transaction() as tx:
            await tx.execute("CREATE TABLE revision (id INTEGER PRIMARY KEY, html TEXT, status TEXT DEFAULT 'queued')")
            await tx.execute("INSERT INTO revision (id) VALUES (1), (2)")
        await press.pause("render")
        saves = [await press.submit("render", {"revision": n, "text": f"text {n}"}, key="/Home") for n in (1, 2)]
        await press.resume("render")
        await asyncio.gather(*(press.wait(job) for job in saves))
        async with press.transaction() as tx:
            rows = await tx.execute("SELECT id, html, status FROM revision ORDER BY id")

    assert rows == [(1, None, "queued"), (2, "<p>text 2</p>", "rendered")]


async def test_what_a_settling_hook_is_told_is_what_the_row_says(anywhere):
    """That of a first attempt that succeeded is not looked up; of every other it is."""
    told = {}

    def tell(ending):
        row = yield from endings._find_ending(ending.id, ending.for_hook)
        told[ending.payload["ends"]] = (ending, row)

    @kind("hooked", settling=tell, backoff=Backoff(base=0.0, jitter=0))
    async def hooked(job, payload):
        if payload["ends"] != "at once" and job.attempt == 1:
            raise Transient("not now")
        return Result({"é": [1.5, None, "\u2028"]}, "aside")

    async with Pressroom(anywhere, kinds=[hooked], workers=2) as press:
        await press.pause("hooked")
        options = {"key": "/Home", "org_id": "acme", "subject": "a page"}
        for payload in ({"ends": "never"}, {"ends": "at once"}):  # the second takes the place of the first
            last = await press.submit("hooked", payload, **options)
        retried = await press.submit("hooked", {"ends": "later"})
        await press.resume("hooked")
        await asyncio.gather(*(press.wait(job, timeout=60) for job in (last, retried)))

    assert told.keys() == {"at once", "later"}
    assert all(ending == row for ending, row in told.values())
    assert told["at once"][0].version == 2
    assert told["later"][0].error["code"] == "transient"


# W16, D25
@pytest.mark.parametrize("policy", OnKey)
async def test_a_submit_while_one_runs_queues_exactly_one_successor(anywhere, gate, eventually, policy):
    ran = []

    @kind("render", on_key=policy)
    async def render(job, payload):
        ran.append(payload)
        if payload == "first":
            await gate.hold()

    async with Pressroom(anywhere, kinds=[render], workers=4) as press:
        running = await press.submit("render", "first", key="/Home")
        await eventually(lambda: gate.came)

        successor = await press.submit("render", "second", key="/Home")
        another = await press.submit("render", "third", key="/Home")

        assert successor.uid != running.uid
        assert (await press.get(successor)).waits_for == "key"
        gate.open()
        for job in (running, successor, another):
            await press.wait(job)

    expected = {
        OnKey.COALESCE: (Answer.COALESCED, ["first", "third"]),
        OnKey.SKIP: (Answer.SKIPPED, ["first", "second"]),
        OnKey.LINE_UP: (Answer.NEW, ["first", "second", "third"]),
    }
    assert (another.answer, ran) == expected[policy]


# D25
async def test_an_update_that_lands_after_the_running_job_read_its_data_is_not_lost(anywhere, gate, eventually):
    data = ["old"]
    shown = []

    @kind("dashboard", on_key=OnKey.SKIP)
    async def dashboard(job, payload):
        read = data[-1]
        await gate.hold()
        shown.append(read)

    async with Pressroom(anywhere, kinds=[dashboard], workers=2) as press:
        await press.submit("dashboard", key="project:7")
        await eventually(lambda: gate.came)

        data.append("new")
        trailing = [await press.submit("dashboard", key="project:7") for _ in range(5)]
        gate.open()
        await press.wait(trailing[0])

    assert [job.answer for job in trailing] == [Answer.NEW, *[Answer.SKIPPED] * 4]
    assert len({job.uid for job in trailing}) == 1
    assert shown == ["old", "new"]


@pytest.mark.parametrize("word", [policy.value for policy in OnKey])
def test_a_policy_given_as_a_word_is_that_policy(steps, word):
    by_word = steps(kind("thing", on_key=word)(nothing))
    by_name = steps(kind("thing", on_key=OnKey(word))(nothing))

    for store in (by_word, by_name):
        store.submit("thing", 1, key="a")

    assert by_word.submit("thing", 2, key="a").answer is by_name.submit("thing", 2, key="a").answer


def test_a_policy_that_does_not_exist_is_refused():
    with pytest.raises(InvalidArgument, match="on_key"):
        kind("thing", on_key="replace")(nothing)


# D5
async def test_two_jobs_of_one_key_are_never_in_progress_at_once(database):
    busy, overlaps, ran = Counter(), [], []

    @kind("render", on_key=OnKey.LINE_UP, tier=Tier.INTERACTIVE)
    async def render(job, payload):
        busy[job.key] += 1
        overlaps.append(busy[job.key])
        for _ in range(payload):
            await asyncio.sleep(0)
        ran.append(job.key)
        busy[job.key] -= 1

    dice = Random(7)
    requests = [Request("render", dice.randrange(20), key=f"/page/{dice.randrange(4)}") for _ in range(100)]
    async with Pressroom(database, kinds=[render], workers=8) as press:
        for job in await press.submit_many(requests):
            await press.wait(job)

    assert set(overlaps) == {1}
    assert Counter(ran) == Counter(request.key for request in requests)


async def test_jobs_that_line_up_run_one_after_the_other_in_their_order(anywhere):
    ran = []

    @kind("ledger", on_key=OnKey.LINE_UP)
    async def ledger(job, payload):
        ran.append(payload)

    async with Pressroom(anywhere, kinds=[ledger], workers=4) as press:
        await press.pause("ledger")
        jobs = [await press.submit("ledger", n, key="account:7") for n in range(5)]
        assert [(await press.get(job)).waits_for for job in jobs] == [None, "key", "key", "key", "key"]
        await press.resume("ledger")
        for job in jobs:
            await press.wait(job)

    assert len({job.uid for job in jobs}) == 5
    assert ran == [0, 1, 2, 3, 4]


async def test_the_end_of_one_job_starts_the_next_of_its_line_without_anybody_having_to_look(anywhere, monkeypatch):
    monkeypatch.setattr(maintenance, "ANNOUNCE_INTERVAL", 3600)
    async with Pressroom(anywhere, kinds=[lining_up], workers=4, lease=3600, poll_interval=60) as press:
        await press.pause("ledger")
        jobs = [await press.submit("ledger", n, key="account:7") for n in range(10)]
        await press.resume("ledger")

        async with asyncio.timeout(50):  # sooner than a worker polls
            assert [await press.wait(job) for job in jobs] == list(range(10))


def test_an_interactive_newcomer_overtakes_a_queued_background_job_of_the_same_key(steps):
    store = steps(lining_up)
    background = store.submit("ledger", "bulk", key="a", tier=Tier.BACKGROUND)
    interactive = store.submit("ledger", "edit", key="a", tier=Tier.INTERACTIVE)

    assert store.get(background).waits_for == "key"
    assert store.get(interactive).waits_for is None
    first = store.claim_one()
    assert first.uid == interactive.uid
    assert store.claim() == [], "the other one of the key waits until the first has ended"
    store.settle(first, Succeeded("null"))
    assert store.claim_one().uid == background.uid


def test_an_interactive_newcomer_does_not_stop_the_one_of_its_key_that_runs(steps):
    store = steps(lining_up)
    store.submit("ledger", "bulk", key="a", tier=Tier.BACKGROUND)
    running = store.claim_one()

    newcomer = store.submit("ledger", "edit", key="a", tier=Tier.INTERACTIVE)

    assert store.claim() == []
    assert store.settle(running, Succeeded("null")) is Status.COMPLETED
    assert store.claim_one().uid == newcomer.uid


@pytest.mark.parametrize(("policy", "answer"), [(coalescing, Answer.COALESCED), (skipping, Answer.SKIPPED)])
def test_an_interactive_submit_makes_the_queued_job_that_it_meets_interactive(steps, policy, answer):
    store = steps(policy)
    early = store.submit(policy.name, "early", key="other", tier=Tier.BACKGROUND)
    queued = store.submit(policy.name, "bulk", key="a", tier=Tier.BACKGROUND)

    met = store.submit(policy.name, "edit", key="a", tier=Tier.INTERACTIVE)

    assert (met.answer, met.uid) == (answer, queued.uid)
    assert store.get(queued).tier is Tier.INTERACTIVE
    assert [claim.uid for claim in store.claim(room=2)] == [queued.uid, early.uid]


@pytest.mark.parametrize("policy", [coalescing, skipping])
def test_a_background_submit_never_makes_an_interactive_job_wait_longer(steps, policy):
    store = steps(policy)
    queued = store.submit(policy.name, "edit", key="a", tier=Tier.INTERACTIVE)

    store.submit(policy.name, "bulk", key="a", tier=Tier.BACKGROUND)

    assert store.get(queued).tier is Tier.INTERACTIVE


def test_a_skipped_submit_leaves_the_queued_payload_as_it_is(steps):
    store = steps(skipping)
    queued = store.submit("dashboard", "first", key="a")

    skipped = store.submit("dashboard", "second", key="a")

    assert (skipped.answer, skipped.uid, skipped.version) == (Answer.SKIPPED, queued.uid, 1)
    assert store.get(queued).payload == "first"


def test_the_same_key_in_another_kind_lines_up_but_is_not_replaced(steps):
    store = steps(coalescing, skipping)
    page = store.submit("page", "page", key="a")
    dashboard = store.submit("dashboard", "dashboard", key="a")

    assert (page.answer, dashboard.answer) == (Answer.NEW, Answer.NEW)
    first = store.claim_one()
    assert first.uid == page.uid
    assert store.claim() == []
    store.settle(first, Succeeded("null"))
    assert store.claim_one().uid == dashboard.uid


async def test_the_same_key_in_another_organisation_is_another_thing(database, gate, eventually):
    @kind("render", tier=Tier.INTERACTIVE)
    async def render(job, payload):
        await gate.hold(job.org_id)

    async with Pressroom(database, kinds=[render], workers=3) as press:
        jobs = [await press.submit("render", key="/Home", org_id=org) for org in ("acme", "globex", None)]
        await eventually(lambda: len(gate.came) == 3)
        gate.open()

    assert [job.answer for job in jobs] == [Answer.NEW] * 3


def test_a_newer_payload_starts_its_attempts_afresh(steps):
    store = steps(coalescing)
    job = store.submit("page", "one", key="a")
    store.settle(store.claim_one(), Retry(ERROR, wait=60))

    store.submit("page", "two", key="a")

    again = store.get(job)
    assert (again.failures, again.version, again.payload) == (0, 2, "two")
    assert [error["message"] for error in again.errors] == ["not now"], "what went wrong before stays readable"
    assert store.claim_one().payload == '"two"', "it need not wait for the older one's backoff"


def test_of_two_dates_for_one_job_the_earlier_counts(steps):
    store = steps(coalescing)
    job = store.submit("page", "one", key="a", delay=timedelta(hours=1))
    store.submit("page", "two", key="a", delay=timedelta(minutes=1))
    store.submit("page", "three", key="a", delay=timedelta(hours=2))

    assert store.claim() == []
    store.clock.advance(minutes=1)
    (claim,) = store.claim()
    assert (claim.uid, claim.payload) == (job.uid, '"three"')


async def test_submits_of_one_key_in_one_batch_meet_each_other(anywhere):
    async with Pressroom(anywhere, kinds=[coalescing], workers=1) as press:
        await press.pause("page")
        jobs = await press.submit_many([Request("page", number, key="/Home") for number in range(3)])
        await press.resume("page")

        assert [job.answer for job in jobs] == [Answer.NEW, Answer.COALESCED, Answer.COALESCED]
        assert await press.wait(jobs[0]) == 2


@pytest.mark.parametrize("taken", [(), ("/2",)], ids=["free keys", "a key with a queued job"])
@pytest.mark.parametrize("of", [coalescing, lining_up, skipping], ids=lambda one: one.name)
async def test_a_batch_with_keys_leaves_the_same_rows_as_submits_one_by_one(anywhere, of, taken):
    """Free keys go in by a few statements for all; the rows must not tell."""
    columns = (
        "kind, tier, status, waits_for, max_attempts, max_crashes, key, on_key, org_id, subject, parent, retention, version"
    )

    async def rows(press, org_id):
        async with press.transaction() as tx:
            sql = f"SELECT {columns}, run_at > date_created, (SELECT count(*) FROM job_event WHERE job_id = job.id) FROM job"
            return await tx.execute(f"{sql} WHERE org_id = :org_id ORDER BY seq", {"org_id": org_id})

    async with Pressroom(anywhere, kinds=[of], workers=1) as press:
        await press.pause(of.name)
        answers = {}
        for org_id in ("one by one", "batch"):
            how = {"org_id": org_id, "subject": "s"}
            for key in taken:
                await press.submit(of, 0, key=key, **how)
            asked = [(n, {"key": f"/{n}", "delay": timedelta(hours=n // 3), **how}) for n in range(4)]
            if org_id == "batch":
                answers[org_id] = await press.submit_many([Request(of, n, **more) for n, more in asked])
            else:
                answers[org_id] = [await press.submit(of, n, **more) for n, more in asked]
        alone, batch = await rows(press, "one by one"), await rows(press, "batch")
        assert len(batch) >= 4
        assert [(*row[:8], *row[9:]) for row in batch] == [(*row[:8], *row[9:]) for row in alone]
        assert [one.answer for one in answers["batch"]] == [one.answer for one in answers["one by one"]]
        await press.resume(of.name)
        assert [await press.wait(job) for job in answers["batch"][:3]] == [0, 1, 0 if taken and of is skipping else 2]


async def test_a_newer_payload_that_was_rolled_back_was_never_there(anywhere):
    async with Pressroom(anywhere, kinds=[coalescing], workers=1) as press:
        await press.pause("page")
        job = await press.submit("page", "kept", key="/Home")

        async def save():
            async with press.transaction() as tx:
                await press.submit("page", "taken back", key="/Home", within=tx)
                raise ValueError("the author changed her mind")

        with pytest.raises(ValueError, match="changed her mind"):
            await save()
        await press.resume("page")

        assert await press.wait(job) == "kept"
        assert (await press.get(job)).version == 1


# I8: reliability.md, dedup never drops a waiter
async def test_a_failing_job_makes_way_for_the_newer_payload_that_waits_and_its_waiters_follow(anywhere, gate, eventually):
    @kind("render", max_attempts=3, backoff=Backoff(base=3600, cap=3600))
    async def render(job, payload):
        if payload == "old":
            await gate.hold()
            raise Transient("the printer is warming up")
        return payload

    async with Pressroom(anywhere, kinds=[render], workers=2) as press:
        old = await press.submit("render", "old", key="/Home")
        waiter = asyncio.create_task(press.wait(old))
        await eventually(lambda: gate.came)
        new = await press.submit("render", "new", key="/Home")

        gate.open()

        assert await waiter == "new"
        superseded = await press.get(old)
        assert (superseded.status, superseded.superseded_by) == (Status.CANCELLED, new.uid)
        assert superseded.errors[-1]["code"] == "superseded"


# D22
async def test_why_a_job_made_way_is_told_to_callers_without_words_of_other_programs(anywhere, gate, eventually):
    """The error that its attempt ended with lies inside of the one that names the newer job."""

    @kind("render", max_attempts=3)
    async def render(job, payload):
        if payload == "old":
            await gate.hold()
            raise RuntimeError("s3cret")
        return payload

    async with Pressroom(anywhere, kinds=[render], workers=2) as press:
        old = await press.submit("render", "old", key="/Home")
        await eventually(lambda: gate.came)
        new = await press.submit("render", "new", key="/Home")
        gate.open()
        await press.wait(new)

        superseded = await press.get(old)
        assert view(superseded).errors[-1]["cause"]["code"] == "handler_error"
        assert "s3cret" not in str(view(superseded).errors)
        assert "s3cret" in superseded.errors[-1]["detail"]


@pytest.mark.parametrize("outcome", [Retry(ERROR, wait=1.0), Released()])
def test_what_would_go_back_to_the_queue_is_superseded_by_the_newer_payload_behind_it(steps, outcome):
    store = steps(coalescing)
    old = store.submit("page", "old", key="a")
    running = store.claim_one()
    new = store.submit("page", "new", key="a")

    assert store.settle(running, outcome) is Status.CANCELLED

    assert store.get(old).superseded_by == new.uid
    assert store.claim_one().uid == new.uid


def test_a_silent_workers_job_is_superseded_by_the_newer_payload_behind_it(steps):
    store = steps(coalescing)
    old = store.submit("page", "old", key="a")
    store.claim_one(lease=15)
    new = store.submit("page", "new", key="a")
    store.clock.advance(seconds=16)

    assert store.rescue() == [Status.CANCELLED]

    assert store.get(old).superseded_by == new.uid
    assert store.claim_one().uid == new.uid


def test_a_job_that_took_too_many_workers_down_is_failed_and_not_superseded(steps):
    store = steps(kind("page", on_key=OnKey.COALESCE, max_crashes=1)(nothing))
    poison = store.submit("page", "old", key="a")
    store.claim_one(lease=15)
    newer = store.submit("page", "new", key="a")
    store.clock.advance(seconds=16)

    assert store.rescue() == [Status.FAILED]

    parked = store.get(poison)
    assert (parked.errors[-1]["code"], parked.superseded_by) == ("worker_crash", None)
    assert store.claim_one().uid == newer.uid


def test_a_result_is_kept_although_a_newer_payload_waits(steps):
    store = steps(coalescing)
    old = store.submit("page", "old", key="a")
    running = store.claim_one()
    store.submit("page", "new", key="a")

    assert store.settle(running, Succeeded('"rendered"')) is Status.COMPLETED

    assert store.get(old).result == "rendered"


def test_a_line_is_not_superseded_every_job_of_it_runs(steps):
    store = steps(lining_up)
    first = store.submit("ledger", 1, key="a")
    running = store.claim_one()
    store.submit("ledger", 2, key="a")

    assert store.settle(running, Retry(ERROR, wait=0)) is Status.QUEUED

    assert store.get(first).superseded_by is None


def test_when_the_job_of_a_key_gives_up_the_next_in_line_may_start(steps):
    store = steps(lining_up)
    store.submit("ledger", 1, key="a")
    second = store.submit("ledger", 2, key="a")

    store.settle(store.claim_one(), GaveUp(ERROR))

    assert store.claim_one().uid == second.uid


def test_when_the_next_of_a_key_is_cancelled_the_one_behind_it_may_start(steps):
    store = steps(lining_up)
    first = store.submit("ledger", 1, key="a")
    second = store.submit("ledger", 2, key="a")

    store.cancel(first)

    assert store.claim_one().uid == second.uid


async def test_waiting_for_a_superseded_job_tells_how_the_newer_one_failed(anywhere, gate, eventually):
    @kind("render", max_attempts=2, backoff=Backoff(base=0, jitter=0))
    async def render(job, payload):
        if payload == "old":
            await gate.hold()
        raise Transient(f"{payload} went wrong")

    async with Pressroom(anywhere, kinds=[render], workers=2) as press:
        old = await press.submit("render", "old", key="/Home")
        await eventually(lambda: gate.came)
        await press.submit("render", "new", key="/Home")
        gate.open()

        with pytest.raises(JobFailed, match="new went wrong"):
            await press.wait(old)


async def test_the_timeout_of_a_wait_counts_from_its_beginning_however_many_jobs_it_follows(monkeypatch):
    """Each of these ends after 25 s by being superseded by the next."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(queue, "time", SimpleNamespace(monotonic=lambda: clock.now))

    class Superseding(queue.Queue):
        def __init__(self):
            self.asked = []

        async def wait_until_ended(self, job, *, timeout):
            self.asked.append((job, timeout))
            if timeout < 25 or len(self.asked) > 3:
                raise WaitTimeout(job, timeout)
            clock.now += 25
            return SimpleNamespace(superseded_by=f"{job}+")

    press = Superseding()
    with pytest.raises(WaitTimeout):
        await press.wait("job", timeout=60)

    assert press.asked == [("job", 60), ("job+", 35), ("job++", 10)]


async def test_waiting_for_a_job_that_somebody_cancelled_does_not_follow_anything(anywhere):
    async with Pressroom(anywhere, kinds=[coalescing], workers=1) as press:
        await press.pause("page")
        cancelled = await press.submit("page", "old", key="/Home")
        await press.cancel(cancelled)
        newer = await press.submit("page", "new", key="/Home")
        await press.resume("page")

        assert newer.answer is Answer.NEW
        with pytest.raises(JobCancelled):
            await press.wait(cancelled)
        assert await press.wait(newer) == "new"


# D17
def test_a_job_whose_worker_died_does_not_keep_its_key_from_being_rendered_again(steps):
    store = steps(lining_up)
    lost = store.submit("ledger", 1, key="pack:7/offer")
    store.claim_one(worker="dies", lease=15)

    again = store.submit("ledger", 2, key="pack:7/offer")
    assert store.claim() == [], "the key is busy as long as the lease lasts"
    store.clock.advance(seconds=16)
    store.rescue()

    first = store.claim_one()
    assert first.uid == lost.uid, "it kept its place"
    store.settle(first, Succeeded("null"))
    assert store.claim_one().uid == again.uid


def test_hundreds_of_jobs_behind_a_busy_key_do_not_stand_before_the_ready_ones(steps):
    store = steps(lining_up)
    store.submit("ledger", key="busy")
    store.claim_one()
    for _ in range(200):
        store.submit("ledger", key="busy")
    ready = store.submit("ledger", key="free")

    assert store.claim_one().uid == ready.uid


def test_a_retry_of_an_old_job_is_answered_with_the_newest_that_is_open(steps):
    store = steps(coalescing)
    old = store.submit("page", "old", key="a")
    store.settle(store.claim_one(), GaveUp(ERROR))
    store.submit("page", "newer", key="a")
    store.claim_one()
    newest = store.submit("page", "newest", key="a")

    retried = store.run(submitting.retry(old.uid, copy_for_retry, lambda new: iter(())))

    assert (retried.answer, retried.uid) == (Answer.SKIPPED, newest.uid)


def test_a_newer_payload_that_was_cancelled_takes_over_from_no_other(steps):
    """It is still in its line if the process that cancelled it does not know the hook of its kind."""

    @kind("hooked", on_key=OnKey.COALESCE, settling=no_rows)
    async def hooked(job, payload): ...

    store = steps(hooked)
    old = store.submit("hooked", "old", key="a")
    running = store.claim_one()
    newer = store.submit("hooked", "newer", key="a")
    assert store.cancel(newer, knowing=()).status is Status.QUEUED

    assert store.settle(running, Retry(ERROR, wait=1.0)) is Status.QUEUED
    assert store.get(old).superseded_by is None


def no_rows(ending):
    yield from ()


def test_a_job_that_was_cancelled_while_it_ran_does_not_say_that_it_was_superseded(steps):
    store = steps(coalescing)
    old = store.submit("page", "old", key="a")
    running = store.claim_one()
    store.submit("page", "new", key="a")
    store.cancel(old)

    assert store.settle(running, Retry(ERROR, wait=1.0)) is Status.CANCELLED

    ended = store.get(old)
    assert (ended.superseded_by, [*ended.errors], ended.last_error) == (None, [], "cancelled")
