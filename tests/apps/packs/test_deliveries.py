"""Packs by every way to deliver: the message, who may take it, and what becomes of a render when something fails.

What prints is a fake of the render service on the loopback, so that a test decides on each answer.
"""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom.apps.packs import renders
from pressroom.artifact_lifecycle.fsck import fsck
from pressroom.definitions import Backoff
from pressroom.ids import as_uuid, new_uid
from tests import looking
from tests.apps.packs.conftest import Stage, Staging
from tests.apps.packs.fake_render_service import fake_render_service
from tests.delivery.redis_stage import keys_of, looking_into
from tests.render_service.stage import response

type Eventually = Callable[..., Any]

CONFIG = {
    "template:note": "<h1>Note for {{ person.name }}</h1>",
    "documents_registry": json.dumps([{"doc_id": name, "title": name, "template": "note"} for name in ("note", "receipt")]),
}
ROOT = Path(__file__).parents[3]
BLPOP_CONSUMER = (ROOT / "docs/redis.md").read_text().split("```python\n")[1].split("```")[0]
CANARY = "canary-5f1c"
BAD = response("500 Oh", CANARY.encode())
BUSY = response("503 Busy", CANARY.encode())
ALL_4XX = [400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 413, 414, 415, 418, 422, 423, 428, 431, 451]


@pytest.fixture
def long_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that waits for its next attempt does so until the test moves its time."""
    monkeypatch.setattr(renders, "Backoff", lambda base, cap: Backoff(base=1000 * base, cap=1000 * cap))


def end_waits(how: dict[str, Any]) -> None:
    """As if the time had passed for which jobs wait."""
    looking.change(how["database"], "UPDATE job SET run_at = 1 WHERE status = 'queued' AND run_at > 1")
    if how.get("delivery") == "oban":
        schema = how.get("oban_schema", "public")
        looking.change(how["database"], f"UPDATE {schema}.oban_jobs SET scheduled_at = now() WHERE state = 'scheduled'")


async def configured_pack(stage: Stage, **fields: Any) -> str:
    for key, body in CONFIG.items():
        await stage.app.configuration.put(None, key, body, author="test")
    return await stage.new_pack(**fields)


async def request(stage: Stage, pack: str, doc_id: str = "note") -> str:
    response = await stage.http.post(f"/packs/{pack}/render/{doc_id}")
    assert response.status_code == 200, response.text
    return str(response.json()["job_id"])


async def is_in(stage: Stage, pack: str, doc_id: str, status: str, attempts: int) -> dict[str, Any] | None:
    document = (await stage.documents(pack))[doc_id]
    return document if (document["status"], document["attempts"]) == (status, attempts) else None


def files(how: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Of design 002's tables: each file with the job that made it."""
    return looking.rows(how["database"], "SELECT artifact_id, key FROM artifact_files ORDER BY key")


async def test_what_one_process_requests_two_others_render_once(delivered: Staging, how: dict[str, Any]) -> None:
    """R15, R20, R26: a claim is one conditional update, so a job that is offered to both is rendered by one."""
    async with fake_render_service() as printing, delivered(workers=None) as front:
        packs = [await configured_pack(front), *[await front.new_pack() for _ in range(4)]]
        async with delivered(render_url=printing.url), delivered(render_url=printing.url):
            for pack in packs:
                await front.http.post(f"/packs/{pack}/render")
            documents = [document for pack in packs for document in (await front.settled(pack)).values()]

    assert {(document["status"], document["version"]) for document in documents} == {("ready", 1)}
    assert len({document["file_id"] for document in documents}) == printing.calls == len(files(how)) == 10


@pytest.mark.parametrize("how", ["redis"], indirect=True)
async def test_the_message_of_a_render_is_that_of_design_002(
    delivered: Staging, how: dict[str, Any], eventually: Eventually
) -> None:
    """R10, R16, R17: one for each job, and its render_request names versions: neither texts nor data travel."""
    async with delivered(workers=None) as front, looking_into(how["redis_url"]) as look:
        pack = await configured_pack(front, session_id="s-81")
        job = await request(front, pack)
        await eventually(lambda: look.llen(how["render_queue"]))
        (raw,) = await look.lrange(how["render_queue"], 0, -1)

    message = json.loads(raw)
    assert message.keys() == {"job_id", "pack_id", "session_id", "doc_id", "render_request", "kind"}
    assert message.pop("render_request") == {
        "number": 1,
        "data_version": 1,
        "config": {"documents_registry": 1, "template:note": 1, "strings": 0, "strings:en": 0},
        "lang": "",
    }
    assert message == {"job_id": job, "pack_id": pack, "session_id": "s-81", "doc_id": "note", "kind": "packs.render"}
    assert b"Anna" not in raw


@pytest.mark.parametrize("how", ["redis"], indirect=True)
async def test_a_plain_blpop_consumer_reads_the_messages_and_no_render_is_lost(delivered: Staging, how: dict[str, Any]) -> None:
    """R16, D17: it pops what nobody else gets to see, and forgets it."""
    environ = os.environ | {"REDIS_URL": how["redis_url"], "RENDER_QUEUE": how["render_queue"]}
    command = [sys.executable, "-c", BLPOP_CONSUMER]
    consumer = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=environ)
    assert consumer.stdout is not None
    try:
        assert await consumer.stdout.readline() == b"ready\n"
        async with fake_render_service() as printing, delivered(workers=None) as front:
            pack = await configured_pack(front)
            jobs = {await request(front, pack, doc_id) for doc_id in ("note", "receipt")}
            popped = {tuple((await consumer.stdout.readline()).decode().split()) for _ in jobs}
            consumer.kill()
            async with delivered(render_url=printing.url):
                documents = await front.settled(pack)
    finally:
        if consumer.returncode is None:
            consumer.kill()
        await consumer.wait()

    assert popped == {(job, "packs.render") for job in jobs}
    assert [document["status"] for document in documents.values()] == ["ready", "ready"]


@pytest.mark.parametrize("how", ["redis"], indirect=True)
async def test_messages_that_cannot_be_used_are_dropped_and_the_worker_goes_on(
    delivered: Staging, how: dict[str, Any], eventually: Eventually, caplog: pytest.LogCaptureFixture
) -> None:
    """R18, R19: and one for a job that is ready already makes nothing a second time."""
    queue, unknown = how["render_queue"], new_uid()
    async with (
        fake_render_service() as printing,
        looking_into(how["redis_url"]) as look,
        delivered(render_url=printing.url) as stage,
    ):
        pack = await configured_pack(stage)
        ready = await request(stage, pack)
        await stage.settled(pack)
        unusable: list[dict[str, Any]] = [
            {"pack_id": pack, "session_id": "", "doc_id": "note", "render_request": {}},
            {"job_id": ready, "render_request": []},
            {"job_id": ready, "render_request": "x" * 10_000_000, "kind": "packs.render"},
            {"job_id": str(as_uuid(unknown)), "render_request": {}, "kind": "packs.render"},
            {"job_id": ready, "pack_id": pack, "doc_id": "note", "render_request": {}, "kind": "packs.render"},
        ]
        await look.rpush(queue, *[json.dumps(message) for message in unusable])

        await request(stage, pack, "receipt")

        assert [document["status"] for document in (await stage.settled(pack)).values()] == ["ready", "ready"]
        await eventually(lambda: f"job_{unknown} was announced, but there is no such job" in caplog.text)
        await eventually(lambda: _nothing_lies_in(look, queue))
    dropped = [
        line for line in caplog.records if line.levelno == logging.ERROR and "a message was dropped" in line.getMessage()
    ]
    reasons = [line.getMessage().split(": ")[1] for line in dropped]
    assert reasons == ["it has no job_id", *2 * ["its render_request is not an object"]]
    assert printing.calls == 2


async def _nothing_lies_in(look: Any, queue: str) -> bool:
    return not any(key == queue or ":taken:" in key for key in await keys_of(look, queue))


@pytest.mark.usefixtures("long_backoff")
async def test_a_render_that_fails_waits_is_tried_again_and_in_the_end_has_failed(
    delivered: Staging, how: dict[str, Any], eventually: Eventually
) -> None:
    """R27, R29, R30: each attempt is counted and told; while it waits, it is queued."""
    async with fake_render_service(always=BAD) as printing, delivered(render_url=printing.url) as stage:
        pack = await configured_pack(stage)
        await request(stage, pack)
        for attempt in range(1, 5):
            waiting = await eventually(lambda attempt=attempt: is_in(stage, pack, "note", "queued", attempt), within=120)
            assert waiting["last_error"] == "the render service failed (500)"
            end_waits(how)
        document = (await stage.settled(pack))["note"]
        alerts = looking.rows(how["database"], "SELECT kind, code FROM alert")

    assert (document["status"], document["attempts"], document["max_attempts"]) == ("failed", 5, 5)
    assert printing.calls == 5
    assert alerts == [("packs.render", "render_http_5xx")]


def test_the_backoff_doubles_from_a_second_to_a_minute() -> None:
    """R27."""
    kind = renders.DocumentRendering(None, renders.PacksSettings(), timeout=150).kind  # type: ignore[arg-type]

    waits = [kind.backoff.delay(attempt, 0.5) for attempt in (1, 2, 3, 6, 7, 100)]

    assert waits == pytest.approx([1, 2, 4, 32, 60, 60])


@pytest.mark.usefixtures("long_backoff")
@pytest.mark.parametrize("how", ["embedded-file"], indirect=True)
async def test_every_4xx_is_final_but_those_that_say_later(delivered: Staging, eventually: Eventually) -> None:
    """R28, D16: by the class of the answer, never by how a text begins. A service that has no room costs no attempt."""
    later = [response("408 Timeout"), response("425 Early"), response("429 Many"), response("503 Full", Retry_After="9")]
    final = [response(f"{status} No", CANARY.encode()) for status in ALL_4XX]
    async with fake_render_service(*final, *later) as printing, delivered(render_url=printing.url) as stage:
        pack = await configured_pack(stage)
        seen = []
        for _ in ALL_4XX:
            await request(stage, pack)
            seen.append((await stage.settled(pack))["note"])
        versions = (await stage.http.get(f"/packs/{pack}/documents/note")).json()["versions"]
        packs = [await stage.new_pack() for _ in later]
        for other in packs:
            await request(stage, other)
        await eventually(lambda: printing.calls == len(final) + len(later))
        waiting = [await eventually(lambda one=one: is_in(stage, one, "note", "queued", 0)) for one in packs]

    assert {(document["status"], document["attempts"]) for document in seen} == {("failed", 1)}
    assert {version["code"] for version in versions} == {"render_http_4xx"}
    assert [document["last_error"].rpartition("(")[2] for document in seen] == [f"{status})" for status in ALL_4XX]
    assert {document["file_id"] for document in waiting} == {None}


@pytest.mark.usefixtures("long_backoff")
async def test_a_document_that_waits_holds_up_no_other(delivered: Staging, eventually: Eventually) -> None:
    """D18: with one worker of one slot. Waiting is a row's time and nobody's sleep."""
    async with fake_render_service(BUSY) as printing, delivered(workers=1, render_url=printing.url) as stage:
        pack = await configured_pack(stage)
        await request(stage, pack)
        waiting = await eventually(lambda: is_in(stage, pack, "note", "queued", 1), within=120)

        job = await request(stage, pack, "receipt")

        await stage.press.wait_until_ended(job, timeout=120)
        documents = await stage.documents(pack)
    assert (documents["receipt"]["status"], documents["note"]["status"]) == ("ready", "queued")
    assert waiting["last_error"] == "the render service failed (503)"


async def doomed(how: dict[str, Any], spec: str, *pack: str, **settings: Any) -> None:
    """A process that is killed at a failpoint (see `doomed.py`)."""
    command = [sys.executable, "-m", "tests.apps.packs.doomed", json.dumps(how | settings), spec, *pack]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT)
    try:
        async with asyncio.timeout(120):
            assert await process.wait() == -signal.SIGKILL
    finally:
        if process.returncode is None:
            process.kill()


@pytest.mark.parametrize("how", ["embedded-file", "redis", "oban"], indirect=True)
async def test_a_render_whose_caller_died_between_commit_and_push_is_done(delivered: Staging, how: dict[str, Any]) -> None:
    """D19: the row is the job, and whatever tells of it may be lost."""
    async with fake_render_service() as printing, delivered(workers=None) as front:
        pack = await configured_pack(front)
        await doomed(how, "submit.after_commit=kill", pack)
        assert (await front.documents(pack))["note"]["status"] == "queued"

        async with delivered(render_url=printing.url):
            document = (await front.settled(pack))["note"]

    assert (document["status"], document["version"], printing.calls) == ("ready", 1, 1)


@pytest.mark.parametrize(
    "how", ["redis", *(pytest.param(name, marks=pytest.mark.deep) for name in ("embedded-file", "oban"))], indirect=True
)
@pytest.mark.parametrize(
    ("point", "calls"),
    [
        ("turn.before_commit", 1),  # D17: it was popped, and its claim is not committed
        ("handler.started", 1),  # D17: it is claimed, and nothing was done
        ("handler.returned", 2),  # D17, D20: its bytes are kept, and it is not settled
    ],
)
async def test_a_render_whose_worker_was_killed_is_made_by_the_next(
    delivered: Staging, how: dict[str, Any], eventually: Eventually, point: str, calls: int
) -> None:
    """D17, D20: one good file, whatever was written before."""
    async with fake_render_service() as printing, delivered(workers=None) as front:
        pack = await configured_pack(front)
        await request(front, pack)
        await doomed(how, f"{point}=kill", render_url=printing.url)

        async with delivered(render_url=printing.url):
            document = await eventually(lambda: _is_ready(front, how, pack), within=300)
        link = (await front.http.get(f"/files/{document['file_id']}/download")).json()["url"]
        data = (await front.http.get(link)).content
        problems = await fsck(front.press.rendering.blobs, front.press.rendering.database, grace=0)

    assert (document["version"], document["attempts"], printing.calls) == (1, 0, calls)
    assert data.startswith(b"%PDF")
    assert [key for _, key in files(how)] == [f"renders/{document['job_id']}/note.pdf"]
    assert problems == []


async def _is_ready(stage: Stage, how: dict[str, Any], pack: str) -> dict[str, Any] | None:
    end_waits(how)  # a job that was beside a crash waits before it runs again
    return await is_in(stage, pack, "note", "ready", 0)


@pytest.mark.parametrize("how", ["embedded-file"], indirect=True)
@pytest.mark.parametrize(
    "answer",
    [
        response("422 No", json.dumps({"detail": CANARY, "title": CANARY, "line": 3}).encode(), X_Canary=CANARY),
        BAD,
        response(f"200 {CANARY}", f"<html>{CANARY}".encode(), Content_Type=f"text/{CANARY}"),
    ],
)
async def test_what_the_render_service_says_is_told_to_operators_alone(delivered: Staging, answer: bytes) -> None:
    """D22: in no answer of the API, no event and no page."""
    async with fake_render_service(always=answer) as printing:
        once = renders.PacksSettings(max_attempts=1)
        async with delivered(render_url=printing.url, settings=once) as stage:
            pack = await configured_pack(stage)
            job = await request(stage, pack)
            await stage.settled(pack)
            link = (await stage.http.post(f"/packs/{pack}/link")).json()["link"]
            paths = [f"/packs/{pack}", f"/packs/{pack}/documents", f"/packs/{pack}/documents/note", f"/jobs/{job}", "/jobs"]
            paths += [f"/packs/{pack}/documents?link={link}", "/packs?status=failed", "/alerts"]
            told = [await stage.client("reader").get(path) for path in paths]
            events = [await _heard(stage, path) for path in (f"/packs/{pack}/events", f"/jobs/{job}/events", "/events")]

    assert [response.status_code for response in told] == [200] * len(paths)
    assert "failed" in told[1].text
    assert CANARY not in "".join([*(response.text for response in told), *events])


async def _heard(stage: Stage, path: str) -> str:
    """What a stream has told from its beginning up to the end of a job. httpx's transport would wait for the stream's end."""
    seen, enough = b"", asyncio.Event()

    async def receive() -> dict[str, Any]:
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal seen
        seen += message.get("body", b"")
        if b"failed" in seen:
            enough.set()

    headers = {"host": "127.0.0.1:8000", "authorization": "Bearer reader", "last-event-id": "0"}
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()], "scheme": "http",
        "client": ("203.0.113.9", 1), "server": ("127.0.0.1", 8000), "asgi": {"version": "3.0"}, "http_version": "1.1",
    }  # fmt: skip
    await asyncio.wait_for(stage.asgi(scope, receive, send), 120)
    return seen.decode()
