"""The overview: what waits, runs and went wrong, for whoever may see it, on both databases."""

import asyncio
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from pressroom import Tier
from pressroom.api.access import Scope
from pressroom.renderers import Missing
from pressroom.store.engine.statements import load
from pressroom.store.jobs import progress
from pressroom.store.jobs.worker_records import WorkerRecord, save_worker
from pressroom.store.operators import figures
from pressroom.testing import SteppedStore
from pressroom.web import dashboard, engines
from tests import looking
from tests.service.queue_stage import BAD, GOOD, HALF, STOPPED, floor, job
from tests.web.browsing import Page, Person, member

CACHED = """INSERT INTO render_cache (fingerprint, org_id, kind, fields, job_id, date_created, expires_at)
            SELECT uid, org_id, kind, '{}', id, date_completed, date_completed + 86400000 FROM job"""


@pytest.fixture(autouse=True)
def _every_look_is_new(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(dashboard, "MIN_CACHE_SECONDS", 0.0)
    monkeypatch.setattr(dashboard, "CACHE_FACTOR", 0)
    return


def lines(text: str) -> list[str]:
    """The rows of its tables and its tiles, as somebody would read them aloud."""
    found = re.findall(r'<tr[ >].*?</tr>|<a class="tile.*?</a>', text, re.S)
    return [" ".join(Page(row.replace("<br>", " ")).words.split()) for row in found]


async def overview(person: Person) -> str:
    answer = await person.get("/desk")
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_what_waits_is_told_by_kind_and_tier_with_the_age_of_the_oldest(database: str) -> None:
    async with floor(database) as here, member(here, everywhere=True) as person:
        await here.press.submit("build")
        here.clock.advance(seconds=90)
        await here.press.submit("build", delay=3600)
        await here.press.submit("page", tier=Tier.INTERACTIVE)
        here.clock.advance(seconds=30)

        told = lines(await overview(person))

    assert "3 queued" in told
    assert "build background 2 1 2 min ago" in told
    assert "page interactive 1 1 30 s ago" in told


async def test_what_every_worker_does_is_told_with_its_parts_and_a_link_to_the_job(database: str) -> None:
    async with floor(database) as here, member(here, everywhere=True) as person:
        build = await here.start("build", subject="handbook, build 42", org_id="acme", worker="press-1.1.A")
        await here.editions(build, "main", "v2", "draft")
        await here.move(build, "v2")
        await here.move(build, "draft", "failed", "nobody approved it")
        page = await here.start("page", worker="press-2.7.B")
        await here.run(progress.begin_phase(page.id, page.token, "drawing", {"done": 3, "total": 7, "message": "page 3"}))

        text = await overview(person)
        told = lines(text)

    assert "2 running" in told
    assert "handbook, build 42 acme build editions 2 of 3 1 failed now main 2 s ago 1 press-1.1.A" in told
    assert f"{page.uid[-8:]} page interactive drawing page 3 3 of 7 1 s ago 1 press-2.7.B" in told
    assert f"/desk/jobs/{job(build)}" in Page(text).addresses
    assert "more than 10 minutes" not in text


async def test_slow_jobs_are_named_first(database: str) -> None:
    async with floor(database) as here, member(here, everywhere=True) as person:
        await here.start("build", subject="the slow one")
        here.clock.advance(minutes=11)
        await here.start("build", subject="the quick one")

        text = await overview(person)

    assert re.search(r"A job has been running for more than 10 minutes:</strong>\s*<a [^>]*>the slow one</a>", text)
    assert [("slow" in row) for row in lines(text) if "one build" in row] == [True, False]


async def test_the_last_hour_is_counted_by_minute_and_by_kind(database: str) -> None:
    """What was cancelled says nothing of how well a kind works."""
    async with floor(database) as here, member(here, everywhere=True) as person:
        await here.end(BAD)
        here.clock.advance(hours=2)
        for outcome in (GOOD, GOOD, BAD, HALF, STOPPED):
            await here.end(outcome)
        await here.end(GOOD, "tidy")
        now = await here.press._database.read(partial(figures.read_last_hour, None))
        text = await overview(person)
        told = lines(text)

    assert (now.total.ended, now.total.errors, now.capped) == (6, 2, False)
    assert len(now.minutes) == 60
    assert "6 ended in the last hour" in told
    assert "1 failed in the last hour" in told
    assert "build 5 1 1 50%" in told
    assert "tidy 1 0 0 0%" in told
    bars = [int(count) for count in re.findall(r"<title>\d\d:\d\d UTC: (\d+)", text)]
    assert len(bars) == 120
    assert (sum(bars[:60]), sum(bars[60:])) == (6, 2)


async def test_no_more_is_counted_than_a_look_may_take(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "COUNTED", 3)
    async with floor(database) as here, member(here, everywhere=True) as person:
        for _ in range(5):
            await here.end(GOOD)

        text = await overview(person)

    assert "3+ ended in the last hour" in lines(text)
    assert "More jobs ended than are counted here" in text


async def test_the_cache_tells_what_it_saved(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every hit saves the time that the first render took."""
    async with floor(database) as here, member(here, everywhere=True) as person:
        for _ in range(2):
            await here.end(GOOD, org_id="acme")
        looking.change(database, CACHED)
        looking.change(database, "UPDATE render_cache SET hits = 3 WHERE job_id = (SELECT min(job_id) FROM render_cache)")
        text = await overview(person)
        monkeypatch.setattr(figures, "ENTRIES", 1)
        capped = await overview(person)
        theirs = await here.press._database.read(partial(figures.read_cache_figures, "acme"))
        nobodys = await here.press._database.read(partial(figures.read_cache_figures, ""))

    assert "60% cache hits, 3.0 s saved" in lines(text)
    assert "Of the entries that are kept now." in text
    assert "Of 1 entries; there are more." in capped
    assert (theirs.misses, nobodys.misses) == (1, 0)


async def test_members_of_an_organisation_see_their_own_and_no_machine(database: str) -> None:
    async with floor(database) as here, member(here, Scope.VIEWER, "acme") as person:
        await here.run(save_worker(WorkerRecord("secret-host.1.A", "p", ["build"], 4, 3, host="secret-host", pid=1)))
        await here.start("build", subject="theirs", org_id="other", worker="secret-host.1.A")
        await here.start("build", subject="ours", org_id="acme", worker="secret-host.1.A")
        await here.press.submit("page", subject="waiting elsewhere", org_id="other")
        await here.end(BAD, "tidy", org_id="other")
        text = await overview(person)
        told = lines(text)

    assert "ours build – 2 s ago 1 worker 1" in told
    assert {"0 queued", "1 running", "0 ended in the last hour", "0 failed in the last hour"} <= set(told)
    for secret in ("theirs", "secret-host", "tidy", "busy"):
        assert secret not in text


async def test_a_quiet_place_explains_how_to_submit_a_first_job(database: str) -> None:
    async with floor(database) as here, member(here, Scope.VIEWER) as person:
        text = await overview(person)
        await here.press.submit("build")
        busy = await overview(person)

    assert "curl -fsS http://pressroom/jobs -H &#34;Authorization: Bearer $PRESSROOM_TOKEN&#34; -H" in text.replace(
        '"', "&#34;"
    )
    assert "/playground" in Page(text).addresses
    assert "All quiet" not in busy
    assert "No worker is alive" in busy


async def test_a_kind_that_no_running_worker_takes_is_named(database: str) -> None:
    async with floor(database) as here, member(here, Scope.VIEWER) as person:
        await here.run(save_worker(WorkerRecord("one", "p", ["page"], 1, 0, lease=86_400_000)))
        await here.press.submit("build")
        await here.press.submit("page")
        here.clock.advance(seconds=30)
        early = await overview(person)
        here.clock.advance(seconds=90)
        late = " ".join(Page(await overview(person)).words.split())

    assert "No running worker takes" not in early
    assert "No running worker takes: build (1 ready, the first 2 min ago)" in late
    assert "No worker is alive" not in late


async def test_a_paused_kind_is_said_aloud(database: str) -> None:
    async with floor(database) as here, member(here, Scope.VIEWER) as person:
        await here.press.pause("tidy")

        assert "Paused:</strong> tidy." in await overview(person)


async def test_engines_that_are_missing_say_how_to_get_them(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    healths = {
        "dot": engines.EngineStatus("dot", "Dot", "dot 9, edition 1", None),
        "uml": engines.EngineStatus("uml", "UML", "", Missing("no package in /secret/place", "pressroom engines install node")),
    }
    monkeypatch.setattr(engines.catalogue, "engines", lambda: list(healths))
    monkeypatch.setattr(engines, "_status_of", lambda name: healths[name])
    async with floor(file) as here, member(here, Scope.VIEWER) as person:
        text = await overview(person)

    words = " ".join(Page(text).words.split())
    assert "1 of 2 work in this process. ✕ missing uml: pressroom engines install node ✓ ready dot dot 9" in words
    assert "/secret/place" not in text


class Looks:
    """A queue that counts who looks, and lets them wait."""

    def __init__(self) -> None:
        self.count = 0
        self.fails = False

    async def __call__(self, org_id: str | None) -> Any:
        self.count += 1
        await asyncio.sleep(0)
        if self.fails:
            raise RuntimeError("not now")
        return self.count


async def test_a_hundred_pages_look_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "MIN_CACHE_SECONDS", 60.0)
    looks = Looks()
    cache = dashboard.DashboardCache(looks)

    assert set(await asyncio.gather(*(cache.get(None) for _ in range(100)))) == {1}
    assert await cache.get(None) == 1
    assert await cache.get("acme") == 2


async def test_who_was_told_of_a_change_is_not_shown_what_was_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """They wait for the next look, which is one for all of them."""
    monkeypatch.setattr(dashboard, "MIN_CACHE_SECONDS", 0.05)
    looks = Looks()
    cache = dashboard.DashboardCache(looks)
    await cache.get(None)

    assert set(await asyncio.gather(*(cache.get(None, after=True) for _ in range(100)))) == {2}


async def test_a_look_that_failed_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "MIN_CACHE_SECONDS", 60.0)
    looks = Looks()
    looks.fails = True
    cache = dashboard.DashboardCache(looks)
    with pytest.raises(RuntimeError):
        await cache.get(None)
    looks.fails = False

    assert await cache.get(None) == 2


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("dashboard_endings", "job_ended"),
        ("dashboard_running", "job_running"),
        ("dashboard_cache", "render_cache_expiry"),
        ("dashboard_cache_of_org", "render_cache_nearest"),
    ],
)
def test_a_look_reads_through_an_index(statement: str, index: str) -> None:
    values = dict.fromkeys(("org_id", "since", "most", "now"))
    plan = SteppedStore().raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')[statement]}", values).fetchall()

    told = " ".join(str(row[3]) for row in plan)
    assert index in told
    assert "SCAN render_cache" not in told
    assert "FOR ORDER BY" not in told


async def test_the_page_is_one_region_that_asks_for_itself(file: str) -> None:
    """Each region would ask for the whole page, so there is one."""
    async with floor(file) as here, member(here, Scope.VIEWER) as person:
        text = await overview(person)
        again = await person.get("/desk", headers={"HX-Request": "true"})

    assert text.count("hx-get=") == 1
    assert 'id="glance"' in again.text
