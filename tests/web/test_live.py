"""The stream that an open page listens to: who hears what, how often, and that nobody is left listening."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from pressroom.api.access import Scope
from pressroom.errors import StoreBusy
from pressroom.submission.request import Request
from pressroom.web import live
from tests.service.access_stage import STRANGER, Stage, on_stage
from tests.web.browsing import Person, member

OPEN = b"event: open"
CHANGED = b"event: changed"


@dataclass
class Ear:
    """One connection to the stream. httpx's transport would wait for its end."""

    stage: Stage
    path: str = "/desk/live"
    query: str = ""
    cookie: str = ""
    token: str = ""
    status: int = 0
    heard: bytes = b""
    _cut: asyncio.Event = field(default_factory=asyncio.Event)
    _grown: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __aenter__(self) -> "Ear":
        self._task = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._cut.set()
        await asyncio.wait_for(self._task, 60)

    async def until(self, words: bytes, times: int = 1) -> None:
        async with self._grown:
            await asyncio.wait_for(self._grown.wait_for(lambda: self.heard.count(words) >= times), 60)

    async def end(self) -> None:
        """The service hangs up."""
        await asyncio.wait_for(asyncio.shield(self._task), 60)

    async def _listen(self) -> None:
        headers = [(b"host", b"pressroom"), (b"cookie", f"pressroom={self.cookie}".encode())]
        headers += [(b"authorization", f"Bearer {self.token}".encode())] if self.token else []
        scope = {
            "type": "http", "method": "GET", "path": self.path, "raw_path": self.path.encode(),
            "query_string": self.query.encode(), "headers": headers, "scheme": "http", "client": STRANGER,
            "server": ("pressroom", 80), "asgi": {"version": "3.0"}, "http_version": "1.1",
        }  # fmt: skip
        await self.stage.app(scope, self._receive, self._send)  # type: ignore[arg-type]

    async def _receive(self) -> dict[str, Any]:
        await self._cut.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._grown:
            self.status = message.get("status", self.status)
            self.heard += message.get("body", b"")
            self._grown.notify_all()


def ear_of(stage: Stage, person: Person, query: str = "") -> Ear:
    return Ear(stage, query=query, cookie=person.cookie)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MIN_INTERVAL", 0.01)


async def test_strangers_hear_nothing(file: str) -> None:  # C
    async with on_stage(file, works=False) as stage, Ear(stage) as ear:
        await ear.end()

    assert ear.status == 401


@pytest.mark.usefixtures("quick")
async def test_members_hear_of_their_own_organisation_only(database: str) -> None:  # C, A2
    async with (
        on_stage(database, works=False) as stage,
        member(stage, Scope.VIEWER, "acme") as anna,
        member(stage, Scope.VIEWER) as nobody,
        member(stage, Scope.VIEWER, everywhere=True) as operator,
        ear_of(stage, anna) as of_acme,
        ear_of(stage, nobody) as of_none,
        ear_of(stage, operator) as of_all,
    ):
        for ear in (of_acme, of_none, of_all):
            await ear.until(OPEN)
        await stage.press.submit("shout", "theirs", org_id="other")
        await of_all.until(CHANGED)
        assert CHANGED not in of_acme.heard + of_none.heard

        await stage.press.submit("shout", "ours", org_id="acme")
        await of_acme.until(CHANGED)
        assert CHANGED not in of_none.heard

        assert b"ours" not in of_all.heard, "that something changed is told, not what"


async def test_a_job_of_others_is_not_there_to_listen_to(database: str) -> None:  # A2
    async with on_stage(database, works=False) as stage, member(stage, Scope.VIEWER, "acme") as anna:
        theirs = await stage.press.submit("shout", "x", org_id="other")
        for name in (f"job_{theirs.uid}", "job_01M7JH1GFEE00AR8C6QBDZY7KK", "nonsense", ""):
            async with ear_of(stage, anna, f"job={name}") as ear:
                await ear.end()
            assert ear.status == 404, name


@pytest.mark.usefixtures("quick")
async def test_the_stream_of_a_job_ends_with_it(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.VIEWER, "acme") as anna:
        job = await stage.press.submit("shout", "x", org_id="acme")
        async with ear_of(stage, anna, f"job=job_{job.uid}") as ear:
            await ear.until(OPEN)
            await stage.press.cancel(job.uid)
            await ear.until(b"data: for the last time")
            await ear.end()
        async with ear_of(stage, anna, f"job=job_{job.uid}") as late:
            await late.end()

    assert late.heard.count(b"data: for the last time") == 1, "whoever comes late looks once, and does not come back"


async def test_a_thousand_events_are_one_look(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MIN_INTERVAL", 3600)
    async with (
        on_stage(database, works=False) as stage,
        member(stage, everywhere=True) as person,
        ear_of(stage, person) as ear,
    ):
        await ear.until(OPEN)
        await stage.press.submit_many([Request("shout", number) for number in range(500)])
        await ear.until(CHANGED)
        await stage.press.submit_many([Request("shout", number) for number in range(500)])
        stage.service.closing.set()
        await ear.end()

    assert ear.heard.count(CHANGED) == 1


@pytest.mark.usefixtures("quick")
async def test_what_happens_between_two_looks_is_looked_at_after(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person, ear_of(stage, person) as ear:
        await ear.until(OPEN)
        for times in range(1, 4):
            await stage.press.submit("shout", times)
            await ear.until(CHANGED, times)


async def test_a_service_that_closes_hangs_up(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person, ear_of(stage, person) as ear:
        await ear.until(OPEN)
        stage.service.closing.set()
        await ear.end()

    assert b"last time" not in ear.heard, "the page comes back"


@pytest.mark.usefixtures("quick")
async def test_whoever_is_logged_out_hears_no_more(database: str) -> None:  # C
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as person, ear_of(stage, person) as ear:
        await ear.until(OPEN)
        await stage.press.tokens.revoke(str(person.token)[:9])
        await stage.press.submit("shout", "x")
        await ear.end()

    assert CHANGED not in ear.heard


async def test_a_page_whose_listener_fails_is_sent_away_to_come_back(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:

        async def events(**_: Any) -> Any:
            raise StoreBusy("for a moment")
            yield

        monkeypatch.setattr(stage.press.queue, "events", events)
        async with ear_of(stage, person) as ear:
            await ear.end()

    assert OPEN in ear.heard
    assert b"last time" not in ear.heard


async def test_a_hundred_pages_that_come_and_go_leave_nobody_listening(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        ears = [ear_of(stage, person) for _ in range(100)]
        for ear in ears:
            await ear.__aenter__()
        for ear in ears:
            await ear.until(OPEN)
        assert streams(stage) == 100

        for ear in ears:
            await ear.__aexit__()

        assert streams(stage) == 0
        assert not stage.press.queue.listeners._all_jobs
        assert [task for task in asyncio.all_tasks() if "Heard" in str(task)] == []


def streams(stage: Stage) -> float:
    (family,) = stage.service.metrics.streams.collect()
    return family.samples[0].value


async def test_the_stream_is_not_kept_or_guessed_at(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        stage.service.closing.set()
        answer: httpx.Response = await person.get("/desk/live")

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
