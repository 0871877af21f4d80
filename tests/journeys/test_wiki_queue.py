"""The render queue of a wiki, as design 000 asks for it: its own list of tests, by its own names.

Articles are rendered by `render_markdown`; a key names the article, and the newest revision takes the queued one's place.
"""

import asyncio
import os
import threading

import pytest

from pressroom import Answer, JobFailed, OnKey, Pressroom, QueueClosed, Request, SourceInvalid, Status, Tier, WaitTimeout, kind
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.config import Settings, load_settings
from pressroom.errors import InvalidSettings, StopTimeout


def render_markdown(markdown):
    if "panic" in markdown:
        raise SystemExit("the renderer panics")
    if "[" in markdown and "]" not in markdown:
        raise SourceInvalid("a link is not closed")
    return f"<p>{markdown}</p>"


@kind("wiki.render", on_key=OnKey.COALESCE, max_attempts=1, timeout=30)
async def wiki_render(job, payload):
    return {"html": render_markdown(payload["markdown"]), "revision": payload["revision"]}


class Wiki:
    """As much of a wiki as the queue needs to be tested."""

    def __init__(self, press, name="wiki.render"):
        self.press = press
        self.name = name

    async def post(self, article, revision, markdown, tier=Tier.INTERACTIVE):
        payload = {"revision": revision, "markdown": markdown}
        return await self.press.submit(self.name, payload, key=f"wiki:{article}", tier=tier)


def a_busy_wiki(gate, ran):
    """A kind whose first render waits at the gate, so that whatever follows is queued."""

    @kind("wiki.render", on_key=OnKey.COALESCE, max_attempts=1)
    async def render(job, payload):
        ran.append(payload["revision"])
        if len(ran) == 1:
            await gate.hold()
        return {"html": render_markdown(payload["markdown"]), "revision": payload["revision"]}

    return render


# W33: basic submit and receive
async def test_basic_submit_and_receive(anywhere):
    async with Pressroom(anywhere, kinds=[wiki_render], workers=1) as press:
        job = await Wiki(press).post("/Home", 1, "hello")

        assert await press.wait(job) == {"html": "<p>hello</p>", "revision": 1}


# W33: priority ordering; W11
async def test_priority_ordering_interactive_before_background(anywhere, gate, eventually):
    ran = []
    async with Pressroom(anywhere, kinds=[a_busy_wiki(gate, ran)], workers=1) as press:
        wiki = Wiki(press)
        jobs = [await wiki.post("/Busy", 0, "busy")]
        await eventually(lambda: gate.came)
        jobs.append(await wiki.post("/A", 1, "a", Tier.BACKGROUND))
        jobs.append(await wiki.post("/B", 2, "b", Tier.BACKGROUND))
        jobs.append(await wiki.post("/C", 3, "c", Tier.INTERACTIVE))
        gate.open()
        for job in jobs:
            await press.wait(job)

    assert ran == [0, 3, 1, 2]


# W33: same-article deduplication; W13, W14
async def test_same_article_deduplication(anywhere, gate, eventually):
    ran = []
    async with Pressroom(anywhere, kinds=[a_busy_wiki(gate, ran)], workers=1) as press:
        wiki = Wiki(press)
        await wiki.post("/Busy", 0, "busy")
        await eventually(lambda: gate.came)
        first = await wiki.post("/Home", 1, "one")
        other = await wiki.post("/About", 2, "about")
        second = await wiki.post("/Home", 3, "three")
        gate.open()

        assert second.uid == first.uid
        assert await press.wait(second) == {"html": "<p>three</p>", "revision": 3}
        await press.wait(other)
    assert ran == [0, 3, 2], "rendered once, as the newest revision, in the first one's place"


# W13, W14: an edit that meets a bulk re-render makes it an edit
async def test_an_edit_raises_the_tier_of_the_bulk_render_that_it_meets(anywhere, gate, eventually):
    ran = []
    async with Pressroom(anywhere, kinds=[a_busy_wiki(gate, ran)], workers=1) as press:
        wiki = Wiki(press)
        await wiki.post("/Busy", 0, "busy")
        await eventually(lambda: gate.came)
        bulk = [await wiki.post(f"/Page{number}", number, "bulk", Tier.BACKGROUND) for number in (1, 2, 3)]
        await wiki.post("/Page3", 33, "edit", Tier.INTERACTIVE)
        gate.open()
        for job in bulk:
            await press.wait(job)

    assert ran == [0, 33, 1, 2]


# W33: multiple waiters for same article; W15, W17
async def test_multiple_waiters_for_the_same_article(anywhere, gate, eventually):
    ran = []
    async with Pressroom(anywhere, kinds=[a_busy_wiki(gate, ran)], workers=1) as press:
        wiki = Wiki(press)
        await wiki.post("/Busy", 0, "busy")
        await eventually(lambda: gate.came)
        posts = [await wiki.post("/Home", revision, f"text {revision}") for revision in (1, 2, 3)]
        waiters = [asyncio.create_task(press.wait(job)) for job in posts for _ in range(10)]
        gate.open()
        answers = await asyncio.gather(*waiters)

    assert answers == [{"html": "<p>text 3</p>", "revision": 3}] * 30


# W16
async def test_an_article_that_is_being_rendered_is_no_longer_a_target_for_deduplication(anywhere, gate, eventually):
    ran = []
    async with Pressroom(anywhere, kinds=[a_busy_wiki(gate, ran)], workers=2) as press:
        wiki = Wiki(press)
        running = await wiki.post("/Home", 1, "one")
        await eventually(lambda: gate.came)
        later = await wiki.post("/Home", 2, "two")
        gate.open()

        assert (later.answer, later.uid != running.uid) == (Answer.NEW, True)
        assert (await press.wait(running))["revision"] == 1
        assert (await press.wait(later))["revision"] == 2


# W33: concurrent submit and pop; W22
async def test_concurrent_submit_and_pop(database):
    """Thirty authors save ten articles over and over while eight workers render. The last save of each is what counts."""
    shown = {}

    @kind("wiki.render", on_key=OnKey.COALESCE, tier=Tier.INTERACTIVE)
    async def render(job, payload):
        await asyncio.sleep(0)
        shown.setdefault(job.key, []).append(payload["revision"])
        return payload["revision"]

    async def author(press, number):
        saves = []
        for turn in range(10):
            revision = turn * 30 + number
            article = f"/Page{(number + turn) % 10}"
            submitted = await Wiki(press).post(article, revision, "text")
            saves.append((article, revision, submitted, await press.wait_until_ended(submitted)))
        return saves

    async with Pressroom(database, kinds=[render], workers=8) as press:
        saves = [save for saved in await asyncio.gather(*(author(press, n) for n in range(30))) for save in saved]

    assert {ended.status for *_, ended in saves} == {Status.COMPLETED}
    assert sum(map(len, shown.values())) == len({ended.uid for *_, ended in saves}), "each job was rendered once"
    assert all(ended.version >= submitted.version for *_, submitted, ended in saves), "nobody was shown less than they saved"
    for article in {article for article, *_ in saves}:
        accepted = [(submitted.id, submitted.version, revision) for of, revision, submitted, _ in saves if of == article]
        assert shown[f"wiki:{article}"][-1] == max(accepted)[-1], "the last save of an article is what it shows"


# W33: graceful shutdown; W25, W26
async def test_graceful_shutdown(anywhere, gate, eventually):
    ran = []
    async with Pressroom(anywhere, kinds=[a_busy_wiki(gate, ran)], workers=1) as press:
        job = await Wiki(press).post("/Home", 1, "in flight")
        waiter = asyncio.create_task(press.wait(job))
        await eventually(lambda: gate.came)

        stopping = asyncio.create_task(press.stop())
        await eventually(lambda: not press.queue._accepting)
        with pytest.raises(QueueClosed):
            await Wiki(press).post("/Home", 2, "too late")
        gate.open()
        await stopping

        assert await waiter == {"html": "<p>in flight</p>", "revision": 1}


# W25
async def test_a_shutdown_whose_deadline_passes_says_so(anywhere, gate, eventually):
    async with Pressroom(anywhere, kinds=[a_busy_wiki(gate, [])], workers=1) as press:
        await Wiki(press).post("/Home", 1, "slow")
        await eventually(lambda: gate.came)

        with pytest.raises(StopTimeout):
            await press.stop(grace=0)


# W33: worker panic recovery; W23
@pytest.mark.parametrize("way", ["coroutine", "function"])
async def test_worker_panic_recovery(anywhere, way):
    if way == "coroutine":
        render = wiki_render
    else:

        @kind("wiki.render", on_key=OnKey.COALESCE, max_attempts=1)
        def render(job, payload):
            return {"html": render_markdown(payload["markdown"]), "revision": payload["revision"]}

    async with Pressroom(anywhere, kinds=[render], workers=1) as press:
        wiki = Wiki(press)
        bad = await wiki.post("/Bad", 1, "panic")
        waiters = [asyncio.create_task(press.wait(bad)) for _ in range(5)]
        answers = await asyncio.gather(*waiters, return_exceptions=True)
        good = await press.wait(await wiki.post("/Good", 2, "fine"))

    assert all(isinstance(answer, JobFailed) for answer in answers)
    assert good == {"html": "<p>fine</p>", "revision": 2}


# W24, W10
async def test_a_render_error_reaches_every_waiter_and_leaves_no_html(anywhere):
    async with Pressroom(anywhere, kinds=[wiki_render], workers=1) as press:
        job = await Wiki(press).post("/Home", 1, "[a link")
        waiters = [asyncio.create_task(press.wait(job)) for _ in range(5)]
        answers = await asyncio.gather(*waiters, return_exceptions=True)
        ended = await press.get(job)

    assert {str(answer) for answer in answers} == {f"job_{job.uid} failed: a link is not closed"}
    assert ended.result is None


# W18, D3
async def test_a_request_that_times_out_leaves_the_render_to_go_on(anywhere, gate):
    async with Pressroom(anywhere, kinds=[a_busy_wiki(gate, [])], workers=1) as press:
        job = await Wiki(press).post("/Home", 1, "slow")
        with pytest.raises(WaitTimeout):
            await press.wait(job, timeout=0.01)
        gate.open()

        assert (await press.wait(job))["html"] == "<p>slow</p>"


# D4
async def test_what_was_queued_when_the_wiki_went_down_is_rendered_when_it_comes_back(database):
    async with Pressroom(database, kinds=[wiki_render], workers=None) as press:
        jobs = [await Wiki(press).post(f"/Page{number}", number, "text") for number in range(5)]

    async with Pressroom(database, kinds=[wiki_render], workers=2) as press:
        assert [(await press.wait(job))["revision"] for job in jobs] == [0, 1, 2, 3, 4]


# W20
def test_the_number_of_presses_is_given_or_else_one_for_each_core(database):
    assert Pressroom(database, presses=3).settings.press_count == 3
    assert Pressroom(database, presses=0).settings.press_count == os.cpu_count()
    assert Pressroom(database).settings.press_count == os.cpu_count()


# W20: a slot is a job in progress and cheap, a press is a process
def test_there_are_several_slots_for_each_press_unless_their_number_is_given(database):
    assert Pressroom(database, workers=3).settings.slots == 3
    assert Pressroom(database, presses=4).settings.slots == 32
    assert Pressroom(database, presses=1).settings.slots == 16
    assert Pressroom(database, presses=1).settings.slots > DiagramsSettings().max_concurrent


# W20, W31
def test_render_workers_in_the_configuration_file_is_the_number_of_presses(tmp_path, database):
    file = tmp_path / "pressroom.toml"
    file.write_text(f'render_workers = 3\ndatabase = "{database}"\n')

    assert load_settings(environ={}, file=file).press_count == 3


# W20
async def test_the_configuration_file_says_how_many_jobs_run_at_once(tmp_path, database):
    file = tmp_path / "pressroom.toml"
    file.write_text(f'workers = 3\ndatabase = "{database}"\n')
    running = threading.Barrier(3, timeout=60)

    @kind("meet", tier=Tier.INTERACTIVE)
    def meet(job, payload):
        running.wait()

    settings = load_settings(environ={}, file=file)
    async with Pressroom(kinds=[meet], settings=settings) as press:
        assert press.worker.slots == settings.slots == 3
        for job in await press.submit_many([Request("meet")] * 3):
            await press.wait(job)


# W20
def test_what_is_given_in_the_program_beats_the_file_and_a_default_does_not(database):
    settings = Settings(database=database, workers=3)

    assert Pressroom(settings=settings).settings.workers == 3
    assert Pressroom(settings=settings, workers=5).settings.workers == 5


# W20
@pytest.mark.parametrize("workers", [-1, 10_001])
def test_a_number_of_workers_that_makes_no_sense_is_refused(database, workers):
    with pytest.raises(InvalidSettings, match="workers"):
        Pressroom(database, workers=workers)
