"""A fingerprint names an input: the same input is rendered once, and different inputs never answer for each other."""

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import timedelta

import pytest

from pressroom import (
    Answer,
    JobCancelled,
    JobFailed,
    OnKey,
    Partial,
    Pressroom,
    Refused,
    SourceInvalid,
    Status,
    Tier,
    kind,
)
from pressroom.errors import InvalidArgument
from pressroom.model import Succeeded
from pressroom.testing import ManualClock

HOUR = timedelta(hours=1)


def diagrams(renders, **promises):
    """A kind that counts how often it really renders."""

    @kind("diagram", cache_for=HOUR, **promises)
    async def diagram(job, payload):
        renders.append(payload)
        return f"<svg>{payload}</svg>"

    return diagram


# D9, and I11 of reliability.md
async def test_two_hundred_identical_submits_at_once_are_rendered_once(anywhere):
    renders = []
    async with Pressroom(anywhere, kinds=[diagrams(renders)], workers=4) as press:
        jobs = await asyncio.gather(*(press.submit("diagram", "a -> b") for _ in range(200)))
        answers = await asyncio.gather(*(press.wait(job) for job in jobs))

    assert renders == ["a -> b"]
    assert answers == ["<svg>a -> b</svg>"] * 200
    told = Counter(job.answer for job in jobs)
    assert told[Answer.NEW] == 1
    assert told[Answer.JOINED] + told[Answer.HIT] == 199


async def test_a_known_input_is_answered_without_a_render(anywhere):
    renders = []
    async with Pressroom(anywhere, kinds=[diagrams(renders)], workers=1) as press:
        first = await press.submit("diagram", "a -> b")
        await press.wait(first)

        again = await press.submit("diagram", "a -> b")

        assert (again.answer, again.uid) == (Answer.HIT, first.uid)
        assert await press.wait(again) == "<svg>a -> b</svg>"
    assert renders == ["a -> b"]


async def test_an_input_in_flight_is_joined(anywhere, gate, eventually):
    @kind("diagram", cache_for=HOUR)
    async def diagram(job, payload):
        await gate.hold()
        return "drawn"

    async with Pressroom(anywhere, kinds=[diagram], workers=2) as press:
        leader = await press.submit("diagram", "a -> b")
        await eventually(lambda: gate.came)
        follower = await press.submit("diagram", "a -> b")
        gate.open()

        assert (follower.answer, follower.uid) == (Answer.JOINED, leader.uid)
        assert await press.wait(follower) == "drawn"
    assert len(gate.came) == 1


async def test_a_miss_says_which_input_kept_the_nearest_answer_from_being_one(anywhere):
    async with Pressroom(anywhere, kinds=[diagrams([])], workers=1) as press:
        fields = {"source": "a -> b", "theme": "dark", "output": "svg"}
        first = await press.submit("diagram", "x", fingerprint=fields)
        await press.wait(first)

        lighter = await press.submit("diagram", "x", fingerprint=fields | {"theme": "light"})
        another = await press.submit("diagram", "x", fingerprint=fields | {"source": "b -> a", "output": "png"})

    assert (first.answer, first.differs) == (Answer.NEW, None)
    assert (lighter.answer, lighter.differs) == (Answer.NEW, ["theme"])
    assert (another.answer, another.differs) == (Answer.NEW, ["output", "source"])


async def test_a_new_version_of_the_renderer_answers_with_nothing_old(database):
    renders = []
    async with Pressroom(database, kinds=[diagrams(renders, version="2.43")], workers=1) as press:
        await press.wait(await press.submit("diagram", "a -> b"))

    async with Pressroom(database, kinds=[diagrams(renders, version="2.44")], workers=1) as press:
        after = await press.submit("diagram", "a -> b")
        await press.wait(after)

    assert (after.answer, after.differs) == (Answer.NEW, ["version"])
    assert len(renders) == 2


async def test_sources_that_differ_by_one_space_are_two_inputs(anywhere):
    renders = []
    sources = ["graph\n  a", "graph\n a", "graph a", "graph\r\n  a", "graph\n  a\n"]
    async with Pressroom(anywhere, kinds=[diagrams(renders)], workers=1) as press:
        for source in sources:
            await press.wait(await press.submit("diagram", source))

    assert renders == sources


async def test_a_failure_answers_everybody_who_joined_and_is_not_cached(anywhere, gate, eventually):
    attempts = []

    @kind("diagram", cache_for=HOUR)
    async def diagram(job, payload):
        attempts.append(payload)
        if len(attempts) == 1:
            await gate.hold()
            raise SourceInvalid("an arrow needs two ends")
        return "drawn"

    async with Pressroom(anywhere, kinds=[diagram], workers=2) as press:
        jobs = [await press.submit("diagram", "a ->") for _ in range(10)]
        waiters = [asyncio.create_task(press.wait(job)) for job in jobs]
        await eventually(lambda: gate.came)
        gate.open()
        answers = await asyncio.gather(*waiters, return_exceptions=True)

        again = await press.submit("diagram", "a ->")

        assert all(isinstance(answer, JobFailed) for answer in answers)
        assert again.answer is Answer.NEW
        assert await press.wait(again) == "drawn"


async def test_work_that_is_done_only_in_part_is_not_cached(anywhere):
    @kind("diagram", cache_for=HOUR)
    async def diagram(job, payload):
        return Partial("drawn", ["one label was too long"])

    async with Pressroom(anywhere, kinds=[diagram], workers=1) as press:
        await press.wait(await press.submit("diagram", "a -> b"))

        assert (await press.submit("diagram", "a -> b")).answer is Answer.NEW


async def test_an_answer_is_good_until_the_very_moment_it_expires(anywhere):
    renders = []
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[diagrams(renders)], workers=1, clock=clock) as press:
        await press.wait(await press.submit("diagram", "a -> b"))

        clock.advance(seconds=3599.999)
        last_moment = await press.submit("diagram", "a -> b")
        clock.advance(seconds=0.001)
        too_late = await press.submit("diagram", "a -> b")

        assert (last_moment.answer, too_late.answer) == (Answer.HIT, Answer.NEW)
        await press.wait(too_late)
        assert (await press.submit("diagram", "a -> b")).answer is Answer.HIT, "the new render is the answer now"
    assert len(renders) == 2


async def test_an_expired_answer_explains_nothing(anywhere):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[diagrams([])], workers=1, clock=clock) as press:
        await press.wait(await press.submit("diagram", "a -> b"))
        clock.advance(hours=1)

        assert (await press.submit("diagram", "b -> a")).differs is None


async def test_two_organisations_never_share_an_answer(anywhere):
    renders = []
    async with Pressroom(anywhere, kinds=[diagrams(renders)], workers=1) as press:
        jobs = []
        for org in ("acme", "globex", None):
            jobs.append(await press.submit("diagram", "a -> b", org_id=org))
            await press.wait(jobs[-1])

    assert [job.answer for job in jobs] == [Answer.NEW] * 3
    assert [job.differs for job in jobs] == [None] * 3, "nor does one learn what the other has rendered"
    assert len(renders) == 3


async def test_two_organisations_do_not_join_each_other_in_flight(anywhere):
    async with Pressroom(anywhere, kinds=[diagrams([])], workers=1) as press:
        await press.pause("diagram")

        jobs = [await press.submit("diagram", "a -> b", org_id=org) for org in ("acme", "globex")]

        assert len({job.uid for job in jobs}) == 2


@pytest.mark.parametrize(
    ("pretended", "wronged"),
    [
        ({"org": "globex"}, ("diagram", "globex")),
        ({"kind": "chart"}, ("chart", "acme")),
        ({"version": "2"}, ("diagram", "acme")),
    ],
    ids=["another organisation", "another kind", "another version"],
)
async def test_a_callers_field_cannot_pass_for_one_of_ours(database, pretended, wronged):
    """With a field called `org` a caller could plant an answer in another organisation's cache."""

    async def draw(job, payload):
        return payload

    def kinds(version):
        return [kind(name, cache_for=HOUR, version=version)(draw) for name in ("diagram", "chart")]

    async with Pressroom(database, kinds=kinds(version="1"), workers=1) as press:
        with suppress(InvalidArgument):  # refusing such a name is as good as keeping it apart
            fields = {"source": "x"} | pretended
            await press.wait(await press.submit("diagram", "planted", org_id="acme", fingerprint=fields))

    name, org = wronged
    version = pretended.get("version", "1")
    async with Pressroom(database, kinds=kinds(version), workers=1) as press:
        asked = await press.submit(name, "honest", org_id=org, fingerprint={"source": "x"})

        assert asked.answer is Answer.NEW
        assert await press.wait(asked) == "honest"


def test_joining_a_background_job_makes_it_interactive(steps):
    store = steps(diagrams([]))
    early = store.submit("diagram", "early", tier=Tier.BACKGROUND)
    leader = store.submit("diagram", "bulk", input="x", tier=Tier.BACKGROUND)

    joined = store.submit("diagram", "edit", input="x", tier=Tier.INTERACTIVE)

    assert (joined.answer, joined.uid) == (Answer.JOINED, leader.uid)
    assert store.get(leader).tier is Tier.INTERACTIVE
    assert [claim.uid for claim in store.claim(room=2)] == [leader.uid, early.uid]


def test_a_background_submit_that_joins_leaves_an_interactive_job_interactive(steps):
    store = steps(diagrams([]))
    leader = store.submit("diagram", "edit", input="x", tier=Tier.INTERACTIVE)

    store.submit("diagram", "bulk", input="x", tier=Tier.BACKGROUND)

    assert store.get(leader).tier is Tier.INTERACTIVE


def test_nobody_joins_a_job_that_is_being_cancelled(steps):
    store = steps(diagrams([]))
    leader = store.submit("diagram", "a", input="x")
    running = store.claim_one()
    store.cancel(leader)

    newcomer = store.submit("diagram", "a", input="x")

    assert (newcomer.answer, newcomer.uid != leader.uid) == (Answer.NEW, True)
    assert store.settle(running, Succeeded("null")) is Status.CANCELLED
    later = store.submit("diagram", "a", input="x")
    assert (later.answer, later.uid) == (Answer.JOINED, newcomer.uid), "what was cancelled is no answer either"


async def test_when_the_leader_is_cancelled_everybody_who_joined_is_told(anywhere, gate, eventually):
    @kind("diagram", cache_for=HOUR)
    async def diagram(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[diagram], workers=2) as press:
        jobs = [await press.submit("diagram", "a -> b") for _ in range(10)]
        waiters = [asyncio.create_task(press.wait(job)) for job in jobs]
        await eventually(lambda: gate.came)

        await press.cancel(jobs[0])

        answers = await asyncio.gather(*waiters, return_exceptions=True)
        assert all(isinstance(answer, JobCancelled) for answer in answers)


def test_the_same_input_for_another_thing_is_not_joined(steps):
    """A keyed job may be given a newer payload while it waits; somebody else's render must not change with it."""
    store = steps(diagrams([]))
    store.submit("diagram", "a", key="/Home", input="x")

    assert store.submit("diagram", "a", key="/About", input="x").answer is Answer.NEW
    assert store.submit("diagram", "a", input="x").answer is Answer.NEW


async def test_going_back_to_the_text_that_is_being_rendered_is_not_lost_behind_the_edit_that_waits(anywhere, gate, eventually):
    """Save A, save B while A renders, save A again: A must be what is shown in the end."""
    shown = []

    @kind("page", on_key=OnKey.COALESCE, cache_for=HOUR)
    async def page(job, payload):
        if not shown:
            await gate.hold()
        shown.append(payload)

    async with Pressroom(anywhere, kinds=[page], workers=2) as press:
        first = await press.submit("page", "A", key="/Home")
        await eventually(lambda: gate.came)
        saves = [first, await press.submit("page", "B", key="/Home"), await press.submit("page", "A", key="/Home")]
        gate.open()
        for job in saves:
            await press.wait(job)

    assert shown[-1] == "A"


async def test_going_back_to_a_text_that_was_rendered_is_not_undone_by_the_edit_that_waits(anywhere):
    """Save A, which is rendered and cached. Save B, which waits. Save A again: A must be what is shown in the end."""
    shown = []

    @kind("page", on_key=OnKey.COALESCE, cache_for=HOUR)
    async def page(job, payload):
        shown.append(payload)

    async with Pressroom(anywhere, kinds=[page], workers=2) as press:
        await press.wait(await press.submit("page", "A", key="/Home"))
        await press.pause("page")
        await press.submit("page", "B", key="/Home")
        back = await press.submit("page", "A", key="/Home")
        await press.resume("page")
        await press.wait(back)

    assert shown[-1] == "A"


async def test_without_a_time_to_keep_it_a_result_answers_nobody_later_but_is_still_joined(anywhere, gate, eventually):
    @kind("probe")
    async def probe(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[probe], workers=2) as press:
        leader = await press.submit("probe", fingerprint={"of": "x"})
        await eventually(lambda: gate.came)
        follower = await press.submit("probe", fingerprint={"of": "x"})
        gate.open()
        await press.wait(leader)

        assert follower.answer is Answer.JOINED
        assert (await press.submit("probe", fingerprint={"of": "x"})).answer is Answer.NEW


@pytest.mark.parametrize("wrong", [{"source": float("nan")}, {"source": object()}, {"source": "\ud800"}])
async def test_a_field_that_cannot_be_hashed_is_refused_in_words(database, wrong):
    async with Pressroom(database, kinds=[diagrams([])], workers=None) as press:
        with pytest.raises(InvalidArgument, match="fingerprint"):
            await press.submit("diagram", "x", fingerprint=wrong)


async def test_a_payload_that_is_nested_too_deep_to_be_hashed_is_refused_in_words(database):
    deep = []
    for _ in range(100_000):
        deep = [deep]

    async with Pressroom(database, kinds=[diagrams([])], workers=None) as press:
        with pytest.raises(Refused):
            await press.submit("diagram", deep)


async def test_going_back_to_a_text_that_was_rendered_is_not_undone_by_the_edit_that_runs(anywhere, gate, eventually):
    """Save A, which is rendered and cached. Save B, which runs. Save A again: A must be what is shown in the end."""
    shown = []

    @kind("page", on_key=OnKey.COALESCE, cache_for=HOUR)
    async def page(job, payload):
        if payload == "B":
            await gate.hold()
        shown.append(payload)

    async with Pressroom(anywhere, kinds=[page], workers=2) as press:
        await press.wait(await press.submit("page", "A", key="/Home"))
        await press.submit("page", "B", key="/Home")
        await eventually(lambda: gate.came)
        back = await press.submit("page", "A", key="/Home")
        gate.open()
        await press.wait(back)

    assert (back.answer, shown[-1]) == (Answer.NEW, "A")
