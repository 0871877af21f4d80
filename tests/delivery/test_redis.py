"""What is particular to Redis lists: the message, who may read it, and what becomes of what was taken (R10-R29)."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from pressroom import Backoff, Kind, Pressroom, Request, SourceInvalid, Status, Tier, Transient, failpoints
from pressroom.config import Settings
from pressroom.delivery import messages, redis
from pressroom.delivery.messages import JobNotice
from pressroom.errors import InvalidArgument
from pressroom.ids import as_uuid, new_uid, parse_uid
from tests.delivery.redis_stage import NotingTaker, announcing, keys_of, looking_into, serving

type Eventually = Callable[..., Any]
type OnRedis = Callable[..., Pressroom]

EXAMPLE = (Path(__file__).parents[2] / "docs/redis.md").read_text().split("```python\n")[1].split("```")[0]


@pytest.fixture
def on_redis(redis_server: str, lists: str, file: str, tmp_path: Path) -> OnRedis:
    def open(*kinds: Kind, workers: int | None = 2, **options: Any) -> Pressroom:
        how = {"database": file, "home": str(tmp_path), "delivery": "redis", "redis_url": redis_server, "render_queue": lists}
        return Pressroom(kinds=kinds, workers=workers, **how | {"lease": 60.0, "poll_interval": 0.02} | options)

    return open


async def echo(job: Any, payload: Any) -> Any:
    return payload


def fields_of_design_002(payload: Any) -> dict[str, Any]:
    if not isinstance(payload, dict):
        return {}
    return {name: payload[name] for name in ("pack_id", "session_id", "doc_id", "render_request") if name in payload}


PROMPT = Kind("echo", echo, tier=Tier.INTERACTIVE, message_fields=fields_of_design_002)


def message_of(uid: str, **fields: Any) -> bytes:
    return json.dumps({"job_id": str(as_uuid(uid)), "render_request": {}, **fields}).encode()


async def test_a_submit_pushes_one_message_with_the_fields_of_design_002(
    on_redis: OnRedis, redis_server: str, lists: str, eventually: Eventually
) -> None:
    """R10, R17: after the commit, and nothing for what was rolled back."""
    asked = {"pack_id": str(uuid4()), "session_id": "s-1", "doc_id": "offer", "render_request": {"template": "a", "n": 2**70}}
    async with on_redis(PROMPT, workers=None) as press, looking_into(redis_server) as look:
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with press.transaction() as tx:
                await press.submit("echo", asked, within=tx)
                raise ZeroDivisionError
        job = await press.submit("echo", asked)
        await eventually(lambda: look.llen(lists))
        (said,) = [json.loads(message) for message in await look.lrange(lists, 0, -1)]

    assert UUID(said.pop("job_id")) == as_uuid(job.uid)
    assert said == {**asked, "kind": "echo"}


async def test_a_large_payload_is_not_copied_into_redis(
    on_redis: OnRedis, redis_server: str, lists: str, eventually: Eventually
) -> None:
    """R17: only what a worker of design 002 asks for."""
    async with on_redis(PROMPT, workers=None) as press, looking_into(redis_server) as look:
        await press.submit("echo", {"text": "x" * 500_000, "pack_id": 1})
        await eventually(lambda: look.llen(lists))
        (message,) = await look.lrange(lists, 0, -1)
    assert len(message) < 200
    assert json.loads(message)["render_request"] == {}


async def test_the_payload_of_a_kind_without_message_fields_stays_in_the_database(
    on_redis: OnRedis, redis_server: str, lists: str, eventually: Eventually
) -> None:
    async with on_redis(Kind("echo", echo, tier=Tier.INTERACTIVE), workers=None) as press, looking_into(redis_server) as look:
        await press.submit("echo", {"pack_id": 1, "render_request": {"template": "a"}})
        await eventually(lambda: look.llen(lists))
        (message,) = await look.lrange(lists, 0, -1)

    said = json.loads(message)
    assert (said.pop("job_id", None) is not None, said) == (True, {"kind": "echo", "render_request": {}})


async def test_what_is_announced_again_has_the_fields_of_its_kind(
    on_redis: OnRedis, redis_server: str, lists: str, eventually: Eventually
) -> None:
    """Redis came back empty."""
    asked = {"doc_id": "offer", "render_request": {"template": "a"}}
    async with on_redis(PROMPT, workers=None) as press, looking_into(redis_server) as look:
        await press.submit("echo", asked)
        await eventually(lambda: look.llen(lists))
        before = await look.lpop(lists)
        await press._delivery.announce_again(press.kinds, press.maintenance._ready_notices)
        await eventually(lambda: look.llen(lists))
        (after,) = await look.lrange(lists, 0, -1)

    assert json.loads(after) == json.loads(before)
    assert json.loads(after)["doc_id"] == "offer"


def test_the_list_is_called_render_jobs_unless_it_is_set() -> None:
    """R16"""
    assert Settings().render_queue == "render_jobs"


@pytest.mark.parametrize("dies", [False, True])
async def test_a_plain_blpop_beside_ours_loses_nothing(on_redis: OnRedis, redis_server: str, lists: str, dies: bool) -> None:
    """R15, R16, D17: the example of docs/redis.md pops messages and forgets them, or dies with one."""
    environ = os.environ | {"REDIS_URL": redis_server, "RENDER_QUEUE": lists}
    outsider = await asyncio.create_subprocess_exec(sys.executable, "-c", EXAMPLE, stdout=asyncio.subprocess.PIPE, env=environ)
    assert outsider.stdout is not None
    try:
        assert await outsider.stdout.readline() == b"ready\n"
        async with on_redis(Kind("echo", echo), workers=None) as front:
            first = await front.submit("echo", "popped by the outsider")
            popped, kind = (await outsider.stdout.readline()).decode().split()
            assert (parse_uid(popped), kind) == (first.uid, "echo")
            if dies:
                outsider.kill()
            async with on_redis(Kind("echo", echo)):
                rest = await front.submit_many([Request("echo", n) for n in range(30)])
                assert await front.wait(first, timeout=60) == "popped by the outsider"
                assert [await front.wait(job, timeout=60) for job in rest] == list(range(30))
    finally:
        if outsider.returncode is None:
            outsider.kill()
        await outsider.wait()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"not json",
        b"\xff\xfe\x00\x01",
        b"[]",
        b"1e999",
        b"null",
        b"[" * 200_000,
        b'{"render_request": {}}',
        b'{"job_id": 7, "render_request": {}}',
        b'{"job_id": "nonsense", "render_request": {}}',
        b'{"job_id": "' + b"9" * 100_000 + b'", "render_request": {}}',
        b'{"job_id": "01890a5d-ac96-774b-bcce-b302099a8057"}',
        b'{"job_id": "01890a5d-ac96-774b-bcce-b302099a8057", "render_request": "text"}',
    ],
)
def test_a_malformed_message_is_logged_and_names_nothing(message: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """R18: also one that is nested so deep that reading it would overflow, which used to end the delivery again and again."""
    assert messages.parse(message) is None
    (line,) = caplog.records
    assert line.levelno == logging.ERROR
    assert len(line.getMessage()) < 1_500


async def test_malformed_messages_are_dropped_and_the_worker_goes_on(
    on_redis: OnRedis, redis_server: str, lists: str, eventually: Eventually, caplog: pytest.LogCaptureFixture
) -> None:
    """R18, R19: and one for a job that there is not."""
    unknown = new_uid()
    async with on_redis(Kind("echo", echo)) as press, looking_into(redis_server) as look:
        await look.rpush(lists, b"junk", b"[" * 200_000, b"x" * 5_000_000, message_of(unknown, kind=["echo"]))
        assert await press.wait(await press.submit("echo", "goes on"), timeout=60) == "goes on"
        await eventually(lambda: f"job_{unknown} was announced, but there is no such job" in caplog.text)
        await eventually(lambda: _is_gone(look, lists))
    assert "delivery failed" not in caplog.text


async def _is_gone(look: Any, lists: str) -> bool:
    return not any(key == lists or ":taken:" in key for key in await keys_of(look, lists))


async def test_another_type_under_the_lists_name_is_told_once_and_left_alone(
    on_redis: OnRedis, redis_server: str, lists: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R18: it is not ours to delete. It used to be told as 'cannot be reached' and 'is back', twice a second."""
    async with looking_into(redis_server) as look:
        await look.set(lists, "a string")
        async with on_redis(Kind("echo", echo)) as press:
            for n in range(3):
                assert await press.wait(await press.submit("echo", n), timeout=60) == n
            await press._delivery.announce_again(press.kinds, press.maintenance._ready_notices)
        assert await look.get(lists) == b"a string"
    told = [line for line in caplog.records if "WRONGTYPE" in line.getMessage() and line.levelno >= logging.WARNING]
    assert len(told) == 1
    assert "is back" not in caplog.text


async def test_the_same_job_offered_to_two_workers_is_run_by_one(on_redis: OnRedis, redis_server: str, lists: str) -> None:
    """R20, I4"""
    ran: list[str] = []

    async def note(job: Any, payload: Any) -> None:
        ran.append(job.uid)

    kind = Kind("note", note)
    async with on_redis(kind, workers=None) as front, looking_into(redis_server) as look:
        jobs = await front.submit_many([Request("note", n) for n in range(20)])
        await look.rpush(lists, *[message_of(job.uid) for job in jobs for _ in range(3)])
        async with on_redis(kind), on_redis(kind):
            for job in jobs:
                await front.wait(job, timeout=60)
    assert sorted(ran) == sorted(job.uid for job in jobs)


async def test_errors_are_retried_by_time_with_a_cap_and_some_are_not(on_redis: OnRedis) -> None:
    """R27, R28, R29, D16, D18: the class of the error decides, and a wait is a row's time."""

    async def fail(job: Any, how: str) -> None:
        raise SourceInvalid("422") if how == "4xx" else Transient("503")

    kind = Kind("fail", fail, max_attempts=3, backoff=Backoff(base=0.02, cap=0.03))
    async with on_redis(kind) as press:
        refused, exhausted = await press.submit("fail", "4xx"), await press.submit("fail", "5xx")
        one, other = [await press.wait_until_ended(job, timeout=60) for job in (refused, exhausted)]
    assert (one.status, one.failures) == (Status.FAILED, 1)
    assert (other.status, other.failures, len(other.errors)) == (Status.FAILED, 3, 3)
    assert kind.backoff.delay(50, 0.5) == 0.03


async def test_a_settle_that_failed_is_made_again(on_redis: OnRedis) -> None:
    """D20: whatever was written before is no obstacle."""
    async with on_redis(Kind("echo", echo), lease=2.0) as press:
        failpoints.arm("handler.returned=raise@1")
        assert await press.wait(await press.submit("echo", "twice"), timeout=60) == "twice"


async def test_what_waits_for_its_time_or_its_key_is_found(on_redis: OnRedis) -> None:
    """Nobody announces these: a worker looks by itself."""
    async with on_redis(Kind("echo", echo)) as press:
        delayed = await press.submit("echo", "later", delay=timedelta(milliseconds=50))
        first, second = [await press.submit("echo", n, key="one thing") for n in (1, 2)]
        assert await press.wait(delayed, timeout=60) == "later"
        assert await press.wait(first, timeout=60) in (1, 2)
        assert await press.wait(second, timeout=60) == 2


async def test_an_idle_worker_of_one_slot_hears_of_its_first_job(
    on_redis: OnRedis, eventually: Eventually, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its first look for work asked for the only slot; when it found nothing, nobody was told that the slot was free again."""
    monkeypatch.setattr(redis.Redis, "min_poll_interval", 1e9)
    failpoints.arm(f"turn.before_commit=wait:{tmp_path / 'go'}")
    press: Any = on_redis(PROMPT, workers=1)
    starting = asyncio.create_task(press.start())
    try:
        await eventually(lambda: getattr(press, "worker", None) and press.worker._loop._slot_freed._waiters)
    finally:
        (tmp_path / "go").touch()
        await starting
    try:
        await eventually(lambda: press.worker._loop.free_slots()[0])
        assert await press.wait(await press.submit("echo", "heard"), timeout=60) == "heard"
    finally:
        await press.stop()


async def test_each_kind_has_its_own_list_where_the_name_says_so(redis_server: str, lists: str, eventually: Eventually) -> None:
    queue = lists + ":{kind}"
    async with announcing(redis_server, queue) as front, looking_into(redis_server) as look:
        front.delivery.announce([front.submit("a"), front.submit("b", tier=int(Tier.BACKGROUND))])
        await eventually(lambda: look.llen(f"{lists}:b:background"))
        assert await keys_of(look, lists) == {f"{lists}:a", f"{lists}:b:background"}


async def test_many_kinds_with_lists_of_their_own_are_all_served(redis_server: str, lists: str, eventually: Eventually) -> None:
    """Each list is waited for on a connection; a hundred were not enough for sixty kinds."""
    kinds = [f"kind{n}" for n in range(60)]
    async with (
        announcing(redis_server, lists + ":{kind}") as front,
        serving(front.delivery, NotingTaker(*kinds, slots=200)) as taker,
    ):
        front.delivery.announce([front.submit(kind, tier) for kind in kinds for tier in (0, 1)])
        await eventually(lambda: len(taker.offers) == 120, within=600)


async def test_five_thousand_jobs_are_pushed_in_few_calls(redis_server: str, lists: str, eventually: Eventually) -> None:
    async with announcing(redis_server, lists) as front, looking_into(redis_server) as look:
        await look.config_resetstat()
        front.delivery.announce([front.submit() for _ in range(5_000)])
        await eventually(lambda: _length_is(look, lists, 5_000))
        assert (await look.info("commandstats"))["cmdstat_rpush"]["calls"] <= 10
        assert front.looked_up == [500] * 10


async def _length_is(look: Any, name: str, length: int) -> bool:
    return await look.llen(name) == length


def test_large_messages_are_pushed_in_pieces() -> None:
    from pressroom.delivery.lists import PUSH_BYTES, _push_batches

    many = [b"x" * (PUSH_BYTES // 3)] * 7 + [b"y" * (2 * PUSH_BYTES)]
    pieces = list(_push_batches(many))
    assert [message for piece in pieces for message in piece] == many
    assert max(len(piece) for piece in pieces) == 3


async def test_what_was_forgotten_is_announced_again_only_into_empty_lists(redis_server: str, lists: str) -> None:
    async with announcing(redis_server, lists) as front, looking_into(redis_server) as look:
        for tier in (0, 0, 1):
            front.submit(tier=tier)
        await look.rpush(lists, b"there is something")
        await front.delivery.announce_again(["echo"], front.waiting)
        assert (await look.llen(lists), await look.llen(f"{lists}:background")) == (1, 1)

        await look.delete(lists)
        for _ in range(3):
            await front.delivery.announce_again(["echo"], front.waiting)
        assert (await look.llen(lists), await look.llen(f"{lists}:background")) == (2, 1)


async def test_a_process_that_submits_and_goes_has_announced_it(on_redis: OnRedis, redis_server: str, lists: str) -> None:
    """R10: it used to go with its last announcements unsaid."""
    async with on_redis(PROMPT, workers=None) as front:
        await front.submit("echo", 1)
    async with looking_into(redis_server) as look:
        assert await look.llen(lists) == 1


def test_a_notice_without_a_payload_makes_a_message_that_we_can_read() -> None:
    uid = new_uid()
    for payload in (None, "null", "[1]", '{"render_request": 7}'):
        named = messages.parse(messages.encode(JobNotice(uid, "echo", 0, payload)))
        assert named == messages.ParsedMessage(uid, "echo")


@pytest.mark.parametrize(
    "fields",
    [
        lambda payload: 1 / 0,
        lambda payload: {"pack_id": object()},
        lambda payload: None,
        lambda payload: {"render_request": 7, "job_id": "another", "kind": "another"},
    ],
    ids=["raises", "not_json", "nothing", "taken_names"],
)
def test_message_fields_that_are_wrong_spoil_no_message(fields: Any) -> None:
    uid = new_uid()

    message = messages.encode(JobNotice(uid, "echo", 0, "{}", fields))

    assert messages.parse(message) == messages.ParsedMessage(uid, "echo")
    assert {*json.loads(message)} == {"job_id", "kind", "render_request"}


def test_message_fields_of_a_kind_are_a_function() -> None:
    with pytest.raises(InvalidArgument, match="message_fields is a function of the payload"):
        Kind("echo", echo, message_fields={"pack_id": 1})  # type: ignore[arg-type]
