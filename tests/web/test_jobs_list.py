"""The list of jobs: what its address asks for is what it shows, page by page, to whoever may see it."""

import html
import random
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from pressroom import Request, Status, Tier
from pressroom.api.access import Scope
from pressroom.ids import new_uid
from pressroom.model import Job
from pressroom.store.operators import search
from pressroom.store.operators.search import SearchFilter
from pressroom.web import selection
from pressroom.web.pages import jobs
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import Page, Person, member


def listed(text: str) -> list[str]:
    """The jobs of a page, in its order."""
    return re.findall(r'<tr data-row id="row-(\w{26})"', text)


def next_link(text: str) -> str | None:
    found = re.search(r'rel="next" href="([^"]+)"|<a href="([^"]+)">Look further back', text)
    return html.unescape(found[1] or found[2]) if found else None


async def jobs_at(person: Person, address: str) -> list[str]:
    answer = await person.get(address)
    assert answer.status_code == 200, answer.text
    return listed(answer.text)


async def test_the_address_says_which_jobs_are_listed(database: str) -> None:
    async with on_stage(database) as stage, member(stage, everywhere=True) as person:
        press = stage.press
        done = await press.submit("shout", "x", subject="RenderEndpoint page", key="front", org_id="acme")
        bad = await press.submit("shout", "fail", max_attempts=1, subject="Back page", tier=Tier.INTERACTIVE)
        for job in (done, bad):
            await press.wait_until_ended(job, timeout=60)
        late = await press.submit("shout", "x", delay=3600, parent=done)
        over = await press.submit("webhook", {}, delay=3600)
        await press.cancel(over)
        every = {"done": done.uid, "bad": bad.uid, "late": late.uid, "over": over.uid}
        names = {uid: name for name, uid in every.items()}
        worker = (await press.get(done)).worker

        async def shown(query: str) -> set[str]:
            return {names[uid] for uid in await jobs_at(person, f"/desk/jobs?{query}")}

        today = datetime.now(UTC).date()
        assert await shown("") == set(every)
        assert await shown("status=failed") == {"bad"}
        assert await shown("status=failed&status=queued&status=cancelled") == {"bad", "late", "over"}
        assert await shown("status=completed&status=failed") == {"done", "bad"}
        assert await shown("status=in_progress") == set()
        assert await shown("kind=webhook") == {"over"}
        assert await shown("kind=webhook&status=queued") == set()
        assert await shown("tier=interactive") == {"bad"}
        assert await shown("org=acme") == {"done"}
        assert await shown("org=-") == {"bad", "late", "over"}
        assert await shown("subject=RenderEndpoint+page") == {"done"}
        assert await shown("key=front") == {"done"}
        assert await shown("key=front&kind=webhook") == set()
        assert await shown(f"parent=job_{done.uid}") == {"late"}
        assert await shown(f"worker={worker}&status=failed") == {"bad"}
        assert await shown("failure=0123456789abcdef") == set()
        assert await shown("from=2h") == set(every)
        assert await shown("until=2h") == set()
        assert await shown(f"from={today - timedelta(days=1)}&until={today + timedelta(days=1)}") == set(every)
        assert await shown("from=2020-01-01&until=2020-12-31T12:00%2B02:00") == set()
        assert await shown(f"uid={done.uid}&uid=job_{bad.uid}") == {"done", "bad"}
        assert await shown("kind=&status=&subject=+") == set(every), "an empty field of the form asks for nothing"


async def test_pages_drop_no_job_however_many_came_at_once(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person:
        submitted = await stage.press.submit_many([Request("shout", number, delay=60) for number in range(120)])

        address: str | None = "/desk/jobs?kind=shout"
        pages = []
        while address:
            text = (await person.get(address)).text
            pages.append(listed(text))
            address = next_link(text)

    assert [len(page) for page in pages] == [50, 50, 20]
    assert [uid for page in pages for uid in page] == [job.uid for job in reversed(submitted)]


async def test_another_organisations_jobs_do_not_exist(database: str) -> None:
    async with (
        on_stage(database, works=False) as stage,
        member(stage, Scope.ADMIN, "ours") as we,
        member(stage, Scope.ADMIN) as default,
    ):
        own = await stage.press.submit("shout", 1, key="k", subject="s", org_id="ours")
        other = await stage.press.submit("shout", 1, key="k", subject="s", org_id="theirs")
        nobodys = await stage.press.submit("shout", 1, key="k", subject="s")

        for query in ("", "key=k", "subject=s", "kind=shout", "status=queued", f"uid={other.uid}&uid={own.uid}"):
            assert await jobs_at(we, f"/desk/jobs?{query}") == [own.uid], query
        assert await jobs_at(default, "/desk/jobs?key=k") == [nobodys.uid]
        for query in ("org=theirs", "org=ours", "worker=somebody"):
            assert (await we.get(f"/desk/jobs?{query}")).status_code == 422


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("status=done", "one of queued"),
        ("tier=fast", "interactive or background"),
        ("from=yesterday", "2026-01-31"),
        ("from=99999999999d", "2026-01-31"),
        ("until=0001-01-01", "1970"),
        ("from=1h&until=2h", "the earlier one"),
        ("parent=me", "ids look like"),
        ("uid=../etc", "ids look like"),
        ("failure=short", "16 letters"),
        ("cursor=-1", "a number"),
        ("cursor=1e9", "a number"),
        ("seen=99999999999999999999", "a number"),
        ("kind=a%00b", "character"),
        ("subject=" + "x" * 600, "512 bytes"),
    ],
)
async def test_a_filter_that_is_none_is_told_what_would_be_right(file: str, query: str, words: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as person:
        answer = await person.get(f"/desk/jobs?{query}")

    assert answer.status_code == 422
    assert words in Page(answer.text).words


async def test_each_condition_can_be_taken_away(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as person:
        text = (await person.get("/desk/jobs?status=failed&status=queued&kind=a%26b&from=2h")).text

    without = {label: html.unescape(link) for link, label in re.findall(r'href="([^"]+)" aria-label="Without ([^"]+)"', text)}
    assert without["status failed"] == "/desk/jobs?status=queued&kind=a%26b&from=2h"
    assert without["kind a&amp;b"] == "/desk/jobs?status=failed&status=queued&from=2h"
    assert any(label.startswith("submitted since 20") for label in without)


async def test_new_jobs_are_announced_and_move_no_row(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person:
        first = await stage.press.submit("shout", 1, delay=60)
        text = (await person.get("/desk/jobs?kind=shout")).text
        again = html.unescape(re.search(r'id="jobs"[^>]*hx-get="([^"]+)"', text)[1])  # type: ignore[index]

        assert "new, show" not in (await person.get(again)).text
        await stage.press.submit_many([Request("shout", 1, delay=60)] * 3)
        await stage.press.submit("webhook", {}, delay=60)
        await stage.press.cancel(first)
        later = (await person.get(again)).text

    assert listed(later) == [first.uid]
    assert "3 new, show them" in Page(later).words
    assert "cancelled" in Page(later).words


async def test_a_picture_is_shown_of_what_was_made(file: str) -> None:
    async with on_stage(file) as stage, member(stage, everywhere=True) as person:
        drawn = await stage.press.render("dot", "digraph { a }", "svg")
        plain = await stage.press.submit("shout", "no artifact")
        for job in (drawn, plain):
            await stage.press.wait_until_ended(job, timeout=60)
        elements = Page((await person.get("/desk/jobs")).text).elements

    pictures = [names["src"] for tag, names in elements if tag == "img" and names.get("class") == "thumb"]
    assert pictures == [f"/desk/jobs/job_{drawn.uid}/output?thumb=1"]


@pytest.mark.parametrize(
    ("media_type", "word"),
    [
        *(("image/svg+xml", ""), ("image/png", ""), ("application/pdf", "PDF"), ("text/html; charset=utf-8", "HTML")),
        *(("text/plain", "TXT"), ("application/ld+json", "JSON"), ("application/octet-stream", "FILE"), ("odd", "FILE")),
    ],
)
def test_what_is_no_picture_is_named(media_type: str, word: str) -> None:
    assert jobs.type_label(media_type) == word


async def test_a_look_that_is_cut_short_says_so_and_goes_on(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "NEWEST", 5)
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person:
        old = await stage.press.submit("shout", 1, subject="needle", delay=60)
        await stage.press.submit_many([Request("shout", 1, delay=60)] * 12)

        address, looks = "/desk/jobs?subject=needle", 0
        while not (found := listed(text := (await person.get(address)).text)):
            assert "older ones may match" in Page(text).words
            address, looks = next_link(text) or "", looks + 1

    assert found == [old.uid]
    assert looks == 2


async def test_every_way_of_searching_finds_the_same(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked for in small steps through any index, nothing is found twice and nothing is left out."""
    monkeypatch.setattr(search, "NEWEST", 7)
    monkeypatch.setattr(search, "SCATTERED", 3)
    luck = random.Random(7)
    async with on_stage(database) as stage:
        every = await furnished(stage, luck)
        read = stage.press.rendering.database.read
        for _ in range(60):
            wanted = a_filter(luck, every)
            found: list[int] = []
            before: int | None = search.BEYOND
            while before is not None:
                some = await read(partial(search.search_job_ids, wanted, before=before, limit=luck.choice((1, 2, 4, 100))))
                found += some.ids
                before = some.next_before
            assert found == [job.id for job in every if matches(job, wanted)], wanted


async def furnished(stage: Stage, luck: random.Random) -> list[Job]:
    press = stage.press
    for number in range(40):
        how = {
            "subject": luck.choice(("a", "b", None)),
            "key": luck.choice((f"k{number}", None)),
            "org_id": luck.choice(("x", "y", None)),
            "tier": luck.choice((Tier.INTERACTIVE, Tier.BACKGROUND)),
        }
        payload = luck.choice(("fine", "fail", "later", "cancel"))
        delay = 3600 if payload in ("later", "cancel") else 0
        job = await press.submit("shout", payload, max_attempts=1, delay=delay, **how)
        if payload == "cancel":
            await press.cancel(job)
        elif not delay:
            await press.wait_until_ended(job, timeout=60)
    return (await press.list(limit=100)).jobs


def a_filter(luck: random.Random, every: Sequence[Job]) -> SearchFilter:
    some = luck.choice(every)
    choices = {
        "status": tuple(luck.sample(list(Status), luck.randint(1, 4))),
        "kind": luck.choice(("shout", "webhook")),
        "tier": some.tier,
        "org_id": some.org_id or "",
        "subject": some.subject,
        "key": some.key,
        "since": some.date_created,
        "until": some.date_created,
        "uids": (*(job.uid for job in luck.sample(every, 5)), new_uid()),
    }
    return SearchFilter(**{name: choices[name] for name in luck.sample(sorted(choices), luck.randint(0, 3))})  # type: ignore[arg-type]


def matches(job: Job, wanted: SearchFilter) -> bool:
    return (
        (not wanted.uids or job.uid in wanted.uids)
        and (not wanted.status or job.status in wanted.status)
        and all(
            getattr(wanted, name) in (None, getattr(job, name) or ("" if name == "org_id" else None))
            for name in ("kind", "org_id", "subject", "key")
        )
        and (wanted.tier is None or job.tier == wanted.tier)
        and (wanted.since is None or job.date_created >= wanted.since)
        and (wanted.until is None or job.date_created < wanted.until)
    )


def test_a_length_of_time_is_frozen_to_a_moment() -> None:
    now = datetime(2026, 1, 31, 14, tzinfo=UTC)
    first = selection.parse_selection([("from", "2h"), ("kind", "x")], org_id=None, now=now).with_fixed_times()
    later = selection.parse_selection(
        [(name, value) for name, values in first.fields.items() for value in values], org_id=None, now=now + timedelta(days=9)
    )

    assert later.filter == first.filter
    assert later.filter.since == now - timedelta(hours=2)


def test_until_a_day_is_until_its_end() -> None:
    until = selection.parse_selection([("until", "2026-01-31")], org_id=None, now=datetime.now(UTC)).filter.until

    assert until == datetime(2026, 2, 1, tzinfo=UTC)
