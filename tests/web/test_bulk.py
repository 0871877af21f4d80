"""Acting on many jobs: what would happen is shown first, the choice does not grow, and it is done once."""

import html
import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
import msgspec
import pytest

from pressroom import Request, Status, Submitted
from pressroom.api.access import Scope
from pressroom.kinds import bulk as bulk_work
from pressroom.kinds.bulk import EVERYWHERE, NAME, BulkJobRow, BulkOrder, skip_reason
from pressroom.store.operators import search
from pressroom.store.operators.search import SearchFilter
from pressroom.web.pages import bulk
from tests import looking
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import Page, Person, member


async def ended(stage: Stage, count: int, **how: Any) -> list[Submitted]:
    """Jobs that have ended, and that work would be done for if they were tried again."""
    jobs = await stage.press.submit_many([Request("shout", number, delay=3600, **how) for number in range(count)])
    for job in jobs:
        await stage.press.cancel(job)
    return jobs


def retries_of(database: str) -> list[str]:
    return sorted(uid for (uid,) in looking.rows(database, "SELECT retry_of FROM job WHERE retry_of IS NOT NULL"))


async def look(person: Person, query: str) -> httpx.Response:
    """The page that shows what would happen, under its frozen address."""
    answer = await person.get(f"/desk/bulk?{query}")
    assert answer.status_code == 303, answer.text
    return await person.get(answer.headers["location"])


def fields_of(text: str) -> dict[str, Any]:
    """What the form that decides would send."""
    form = text[text.index('id="decide"') :]
    fields: dict[str, Any] = {"decided": "yes"}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form):
        fields.setdefault(name, []).append(html.unescape(value))
    return fields


async def decide(person: Person, page: httpx.Response, **more: str) -> httpx.Response:
    fields = fields_of(page.text) | more
    del fields["form_token"]
    return await person.post("/desk/bulk", fields)


def job_of(answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2]


async def test_a_look_says_what_would_happen_and_changes_nothing(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person:
        over = await ended(stage, 3, key=None, subject="s")
        await stage.press.submit_many([Request("shout", 1, delay=3600, subject="s")] * 12)
        before = looking.rows(database, "SELECT count(*), max(id) FROM job")

        retry = Page((await look(person, "action=retry&subject=s")).text).words
        cancel = Page((await look(person, "action=cancel&subject=s")).text).words

        assert looking.rows(database, "SELECT count(*), max(id) FROM job") == before
        assert looking.rows(database, "SELECT count(*) FROM audit") == [(0,)]
    assert "jobs with subject s" in retry
    assert "12: not ended yet" in retry
    assert "Retry 3 jobs" in retry
    assert all(job.uid[-8:] in retry for job in over), "those that something is done with are the sample"
    assert "3: already ended" in cancel
    assert "Cancel 12 jobs" in cancel


async def test_what_matches_is_tried_again_by_a_job(database: str) -> None:
    async with on_stage(database) as stage, member(stage, Scope.OPERATOR, "ours") as person:
        own = await ended(stage, 5, org_id="ours")
        await ended(stage, 2, org_id="theirs")
        await ended(stage, 2)
        page = await look(person, "action=retry&status=cancelled")
        late = await ended(stage, 1, org_id="ours")

        name = job_of(await decide(person, page))
        done = await stage.press.wait_until_ended(name, timeout=60)
        for uid in retries_of(database):
            assert uid not in {job.uid for job in late}

        assert done.result == {"requeued": 5, "skipped": 0, "why": {}}
        assert done.org_id == "ours"
        assert retries_of(database) == sorted(job.uid for job in own)
        audit = looking.rows(database, "SELECT who, action, target, org_id, after FROM audit ORDER BY id")
        assert [row[1:4] for row in audit] == [("bulk.retry", name, "ours"), ("bulk.retry.ended", name, "ours")]
        assert msgspec.json.decode(audit[0][4])["to_do"] == "5"
        assert msgspec.json.decode(audit[1][4]) == {"status": "completed", "requeued": 5, "skipped": 0, "why": {}}

        again = await decide(person, page)
        assert "5: already retried" in Page(again.text).words
        assert "nothing to do" in Page(again.text).words
        assert len(retries_of(database)) == 5


async def test_ticked_jobs_are_cancelled_and_no_others(database: str) -> None:
    async with on_stage(database) as stage, member(stage, everywhere=True) as person:
        jobs = await stage.press.submit_many([Request("shout", 1, delay=3600)] * 4)
        await stage.press.cancel(jobs[0])
        sent = {"which": "chosen", "action": "cancel", "kind": "shout", "uid": [job.uid for job in jobs[:3]]}

        frozen = (await person.post("/desk/bulk", sent)).headers["location"]
        page = await person.get(frozen)
        assert "3 selected jobs" in Page(page.text).words
        done = await stage.press.wait_until_ended(job_of(await decide(person, page)), timeout=60)

        states = [(await stage.press.get(job)).status for job in jobs]
    assert done.result == {"cancelled": 2, "skipped": 1, "why": {"already ended": 1}}
    assert done.org_id == EVERYWHERE
    assert states == [Status.CANCELLED] * 3 + [Status.QUEUED]


async def test_the_choice_does_not_grow_by_a_reload(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as person:
        await ended(stage, 2)
        page = await look(person, "action=retry&kind=shout&from=2h")
        await ended(stage, 3)
        again = await person.get(str(page.request.url))

    assert "Retry 2 jobs" in Page(again.text).words
    assert fields_of(again.text)["from"] == fields_of(page.text)["from"] != ["2h"]


async def test_many_jobs_are_confirmed_by_their_number(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "TYPED_COUNT_ABOVE", 2)
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person:
        await ended(stage, 3)
        page = await look(person, "action=retry&kind=shout")
        for typed in ("", "2", "all"):
            answer = await decide(person, page, typed=typed)
            assert answer.status_code == 422
            assert "Type 3" in Page(answer.text).words
        assert looking.rows(database, f"SELECT count(*) FROM job WHERE kind = '{NAME}'") == [(0,)]

        assert (await decide(person, page, typed="3")).status_code == 303
        assert looking.rows(database, f"SELECT count(*) FROM job WHERE kind = '{NAME}'") == [(1,)]


async def test_more_jobs_than_are_counted_are_confirmed_although_few_of_them_are(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "search_job_ids", partial(search.search_job_ids, limit=3))
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as person:
        await ended(stage, 5)
        page = await look(person, "action=retry&kind=shout")
        refused = await decide(person, page)
        accepted = await decide(person, page, typed=fields_of(page.text)["number"][0])

    assert refused.status_code == 422
    assert accepted.status_code == 303


async def test_no_filter_is_never_everything_without_a_word(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as person:
        await ended(stage, 1)
        page = await look(person, "action=retry")
        refused = await decide(person, page)
        by_form = await person.post("/desk/bulk", {"which": "chosen", "action": "retry"})

    assert "every job of every organisation" in " ".join(Page(page.text).words.split())
    assert refused.status_code == 422
    assert by_form.status_code == 422
    assert "no job is selected" in Page(by_form.text).words


async def test_a_viewer_may_not_even_look(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.VIEWER, everywhere=True) as person:
        await ended(stage, 1)
        shown = (await person.get("/desk/jobs")).text

        assert (await person.get("/desk/bulk?action=retry&kind=shout")).status_code == 403
        assert (await person.post("/desk/bulk", {"decided": "yes"})).status_code == 403
    assert 'name="uid"' not in shown
    assert "/desk/bulk" not in shown


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "retry or cancel"),
        ("action=delete", "retry or cancel"),
        ("action=retry&status=x", "one of queued"),
        ("action=retry&up_to=x&as_of=1", "a number"),
        ("action=retry&" + "&".join(f"uid={number:026}" for number in range(201)), "up to 200"),
    ],
)
async def test_bad_words_are_told_what_would_be_right(file: str, query: str, words: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as person:
        answer = await person.get(f"/desk/bulk?{query}")

    assert answer.status_code == 422
    assert words in Page(answer.text).words


@dataclass
class Attempt:
    """A bulk job's attempt that dies after some of its progress."""

    uid: str
    id: int
    org_id: str | None
    dies_after: int = 1 << 30
    told: list[int] = field(default_factory=list)

    async def phase(self, name: str, *, total: int | None = None) -> None: ...

    async def progress(self, done: int) -> None:
        self.told.append(done)
        if len(self.told) > self.dies_after:
            raise RuntimeError("the worker died")


@pytest.mark.parametrize("action", ["retry", "cancel"])
async def test_after_a_crash_it_goes_on_and_does_nothing_twice(
    database: str, action: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_work, "DONE_AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "FOUND_AT_ONCE", 3)
    async with on_stage(database, works=False) as stage:
        press = stage.press
        if action == "retry":
            await ended(stage, 7)
        else:
            await press.submit_many([Request("shout", 1, delay=3600)] * 7)
        wanted = SearchFilter(kind="shout", status=(Status.CANCELLED if action == "retry" else Status.QUEUED,))
        ((up_to,),) = looking.rows(database, "SELECT max(id) FROM job")
        order = BulkOrder(action=action, wanted=wanted, up_to=up_to, as_of=1 << 60, who="me")
        async with press.transaction() as transaction:
            job = await bulk_work.submit_bulk_job(press, order, org_id=None, within=transaction)
        payload = (await press.get(job)).payload

        looking.change(database, f"UPDATE job SET claim = 1 WHERE uid = '{job.uid}'")
        with pytest.raises(RuntimeError):
            await press.bulk.handle(Attempt(job.uid, job.id, EVERYWHERE, dies_after=1), payload)
        looking.change(database, f"UPDATE job SET claim = 2 WHERE uid = '{job.uid}'")
        result = await press.bulk.handle(Attempt(job.uid, job.id, EVERYWHERE), payload)

        assert result["requeued" if action == "retry" else "cancelled"] == 7
        assert result["skipped"] == 0
        assert len(retries_of(database)) == len(set(retries_of(database))) == (7 if action == "retry" else 0)


@pytest.mark.parametrize(("ended_at", "reason"), [(1_000, None), (1_001, "ended only after this was decided")])
def test_what_ends_after_the_choice_was_made_is_not_retried(ended_at: int, reason: str | None) -> None:
    row = BulkJobRow(1, "uid", "shout", "failed", ended_at, None, None)

    assert skip_reason("retry", row, 1_000, lambda _: True) == reason


async def test_after_a_crash_what_was_tried_again_before_it_began_is_not_its_own_work(database: str) -> None:
    async with on_stage(database, works=False) as stage:
        press = stage.press
        await ended(stage, 2)
        ((uid, up_to),) = looking.rows(database, "SELECT uid, id FROM job ORDER BY id DESC LIMIT 1")
        await press.retry(uid)
        order = BulkOrder(action="retry", wanted=SearchFilter(status=(Status.CANCELLED,)), up_to=up_to, as_of=1 << 60)
        async with press.transaction() as transaction:
            job = await bulk_work.submit_bulk_job(press, order, org_id=None, within=transaction)
        looking.change(database, f"UPDATE job SET claim = 2 WHERE uid = '{job.uid}'")
        result = await press.bulk.handle(Attempt(job.uid, job.id, EVERYWHERE), (await press.get(job)).payload)

    assert result == {"requeued": 1, "skipped": 1, "why": {"already retried": 1}}


async def test_its_organisation_is_the_jobs_and_not_the_payloads(file: str) -> None:
    """Whoever may submit jobs may submit this kind. It then touches what they could touch one by one."""
    async with on_stage(file) as stage:
        theirs = await stage.press.submit("shout", 1, delay=3600, org_id="theirs")
        order = BulkOrder(action="cancel", wanted=SearchFilter(org_id="theirs"), up_to=1 << 60, as_of=1 << 60)
        forged = await stage.press.submit(NAME, msgspec.to_builtins(order), org_id="ours")
        done = await stage.press.wait_until_ended(forged, timeout=60)

        assert done.result == {"cancelled": 0, "skipped": 1, "why": {"bulk work itself": 1}}
        assert (await stage.press.get(theirs)).status is Status.QUEUED
        wrong = await stage.press.wait_until_ended(await stage.press.submit(NAME, {"action": "drop"}), timeout=60)
        assert wrong.status is Status.FAILED
