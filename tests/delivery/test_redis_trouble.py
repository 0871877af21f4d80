"""Workers that die, sleep or go with messages in hand, and a Redis that is away, empty, slow or of no use (D17, D19)."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pressroom import Kind, Pressroom, Request, Tier
from pressroom.delivery import lists as redis_lists
from pressroom.delivery import redis
from pressroom.errors import InvalidSettings
from pressroom.ids import as_uuid, new_uid
from tests.delivery.redis_stage import NotingTaker, announcing, keys_of, looking_into, serving
from tests.servers import free_ports, running, valkey, valkey_server, wait_until

type Eventually = Callable[..., Any]


async def echo(job: Any, payload: Any) -> Any:
    return payload


def on_redis(tmp_path: Path, url: str, queue: str = "render_jobs", **options: Any) -> Pressroom:
    settings = {"database": f"sqlite:///{tmp_path / 'press.db'}", "home": str(tmp_path), "lease": 60.0, "poll_interval": 0.02}
    kind = Kind("echo", echo, tier=Tier.INTERACTIVE)
    how = settings | {"delivery": "redis", "redis_url": url, "render_queue": queue, "workers": 2}
    return Pressroom(kinds=[kind], **how | options)


def message(uid: str | None = None, kind: str = "echo") -> bytes:
    return json.dumps({"job_id": str(as_uuid(uid or new_uid())), "render_request": {}, "kind": kind}).encode()


async def test_messages_of_a_worker_that_died_are_put_back_at_the_head(redis_server: str, lists: str) -> None:
    """D17: kill -9 between BLMOVE and the claim leaves just this behind."""
    lost, later = [message(), message()], message()
    async with announcing(redis_server, lists) as front, looking_into(redis_server) as look:
        await look.rpush(lists, later)
        await look.rpush(f"{lists}:taken:dead", *lost)
        await look.sadd(f"{lists}:workers", "dead", b"\xff\xfe")
        await look.rpush(f"{lists}:taken:living", message())
        await look.sadd(f"{lists}:workers", "living")
        await look.set(f"{lists}:alive:living", 1)

        assert sorted(await front.delivery._lists.return_silent_messages(lists))[0] == ("dead", 2)
        assert await look.lrange(lists, 0, -1) == [*lost, later]
        assert await look.smembers(f"{lists}:workers") == {b"living"}
        assert await look.llen(f"{lists}:taken:living") == 1


DOOMED = """
import asyncio, sys
from pathlib import Path
from pressroom import failpoints
from pressroom.delivery import redis
from tests.delivery.test_redis_trouble import on_redis

async def main():
    redis.Redis.min_poll_interval = 1e9  # it is to hear of its job, not to find it
    async with on_redis(Path(sys.argv[1]), *sys.argv[2:]) as press:
        while press.worker._loop._jobs_expected or press.worker._loop.turns_in_flight:
            await asyncio.sleep(0.01)
        failpoints.arm("turn.before_commit=kill")
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_process_that_is_killed_before_its_claim_leaves_its_message_to_the_next(
    tmp_path: Path, redis_server: str, lists: str, eventually: Eventually
) -> None:
    """R15, D17: kill -9 between BLMOVE and the claim, in a process of its own."""
    async with on_redis(tmp_path, redis_server, lists, workers=None) as front, looking_into(redis_server) as look:
        arguments = [sys.executable, "-c", DOOMED, str(tmp_path), redis_server, lists]
        doomed = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
        assert doomed.stdout is not None
        assert await doomed.stdout.readline() == b"ready\n"
        job = await front.submit("echo", "survives")
        assert await doomed.wait() == -signal.SIGKILL
        (taken,) = [key for key in await keys_of(look, lists) if ":taken:" in key]

        await look.delete(taken.replace(":taken:", ":alive:"))  # its fifteen seconds are over
        async with on_redis(tmp_path, redis_server, lists):
            assert await front.wait(job, timeout=60) == "survives"
            await eventually(lambda: _none_taken(look, lists))


async def test_a_living_worker_looks_after_the_dead(redis_server: str, lists: str, eventually: Eventually) -> None:
    async with announcing(redis_server, lists) as front, looking_into(redis_server) as look:
        uid = new_uid()
        await look.rpush(f"{lists}:taken:dead", message(uid))
        await look.sadd(f"{lists}:workers", "dead")
        async with serving(front.delivery, NotingTaker()) as taker:
            await eventually(lambda: [offer.uid for offer in taker.offers] == [uid])


async def test_a_worker_that_slept_does_no_harm_when_it_comes_back(
    redis_server: str, lists: str, eventually: Eventually
) -> None:
    """Its message was put back and taken by another; what it answers then is about nothing."""
    async with announcing(redis_server, lists) as front, looking_into(redis_server) as look:
        async with serving(front.delivery, NotingTaker(name="sleeper", slots=1)) as sleeper:
            await look.rpush(lists, message())
            await eventually(lambda: sleeper.offers)
            await look.delete(f"{lists}:alive:sleeper")
            await front.delivery._lists.return_silent_messages(lists)
            async with serving(front.delivery, NotingTaker(name="other", slots=1)) as other:
                await eventually(lambda: other.offers)
                sleeper.offers[0].refuse(0.0)
                other.offers[0].accept()
                await eventually(lambda: _none_taken(look, lists))
        assert await keys_of(look, lists) == set()


async def _none_taken(look: Any, lists: str) -> bool:
    return not any(":taken:" in key or key == lists for key in await keys_of(look, lists))


async def test_a_worker_that_goes_puts_back_what_it_had_taken_and_leaves_nothing(
    redis_server: str, lists: str, eventually: Eventually
) -> None:
    sent = [message() for _ in range(4)]
    async with announcing(redis_server, lists) as front, looking_into(redis_server) as look:
        async with serving(front.delivery, NotingTaker()) as taker:
            await look.rpush(lists, *sent)
            await eventually(lambda: len(taker.offers) == 4)
            taker.offers[0].accept()
        assert await look.lrange(lists, 0, -1) == sent[1:]
        assert await keys_of(look, lists) == {lists}


async def test_an_offer_that_a_leaving_worker_refuses_is_free_at_once(
    redis_server: str, lists: str, eventually: Eventually
) -> None:
    """It used to stay with the leaver for as long as its grace."""
    sent = [message() for _ in range(3)]
    async with (
        announcing(redis_server, lists) as front,
        looking_into(redis_server) as look,
        serving(front.delivery, NotingTaker(slots=3)) as taker,
    ):
        await look.rpush(lists, *sent)
        await eventually(lambda: len(taker.offers) == 3)
        for offer in taker.offers:
            offer.refuse(0.0)
        await eventually(lambda: look.llen(lists))
        await eventually(lambda: _holds(look, lists, sent))


async def _holds(look: Any, name: str, sent: list[bytes]) -> bool:
    return await look.lrange(name, 0, -1) == sent


async def test_a_message_that_was_moved_but_never_seen_comes_round_again(
    redis_server: str, lists: str, eventually: Eventually
) -> None:
    """The connection broke after BLMOVE and before its answer. The message used to stay where it was until we left."""
    uid = new_uid()
    async with (
        announcing(redis_server, lists) as front,
        looking_into(redis_server) as look,
        serving(front.delivery, NotingTaker()) as taker,
    ):
        await eventually(lambda: look.exists(f"{lists}:alive:noting"))
        await look.rpush(f"{lists}:taken:noting", message(uid))
        await eventually(lambda: _cut_off(look, taker, uid))


async def _cut_off(look: Any, taker: NotingTaker, uid: str) -> bool:
    await look.client_kill_filter(_type="normal", skipme=True)
    for _ in range(100):  # to connect again takes its time, and the next cut would undo it
        await asyncio.sleep(0.05)
        if uid in [offer.uid for offer in taker.offers]:
            return True
    return False


async def test_a_message_that_was_put_back_meanwhile_is_not_returned_once_more(redis_server: str, lists: str) -> None:
    """The worker slept, others put back what it had taken, and then it wakes up and wants to return it: nothing multiplies."""
    first, second = message(), message()
    async with announcing(redis_server, lists) as front, looking_into(redis_server) as look:
        ours = front.delivery._lists
        await look.rpush(lists, first, second)
        taken = [await ours.take_first(lists, "sleeper"), *await ours.take_more(lists, "sleeper", 5)]
        await look.sadd(f"{lists}:workers", "sleeper")
        assert await ours.return_silent_messages(lists) == [("sleeper", 2)]

        await ours.return_to_head(lists, "sleeper", taken)
        await ours.return_to_tail(lists, "sleeper", taken)

        assert await look.lrange(lists, 0, -1) == [first, second]


async def test_a_message_that_could_not_be_returned_is_returned_when_redis_is_back(
    redis_server: str, lists: str, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it stays with a worker that does not want it, and the others, who would, never see it."""
    monkeypatch.setattr(redis_lists, "BLOCK", 0.1)  # the worker looks round when its wait for a message is over
    uid, failed = new_uid(), []
    hand_back = redis_lists.MessageLists.return_to_head

    async def fail_once(self: Any, *of: Any) -> None:
        if not failed:
            failed.append(of)
            raise ConnectionResetError
        await hand_back(self, *of)

    async with (
        announcing(redis_server, lists) as front,
        looking_into(redis_server) as look,
        serving(front.delivery, NotingTaker()) as taker,
    ):
        await look.rpush(lists, message(uid))
        await eventually(lambda: taker.offers, within=60)
        monkeypatch.setattr(redis_lists.MessageLists, "return_to_head", fail_once)

        taker.offers[0].refuse(0.0)

        await eventually(lambda: len(taker.offers) == 2, within=60)
        assert [offer.uid for offer in taker.offers] == [uid, uid]
        assert len(failed) == 1


async def test_messages_for_others_are_handed_on_at_rest_and_in_the_end_dropped(
    redis_server: str, lists: str, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No busy loop, no starving, and no message that goes round for ever because its kind is no more."""
    async with (
        announcing(redis_server, lists) as front,
        looking_into(redis_server) as look,
        serving(front.delivery, NotingTaker("mine", slots=1)) as mine,
    ):
        for n in range(20):
            await look.rpush(lists, message(kind="yours"))
            if n == 10:
                await look.rpush(lists, message(kind="mine"))
        async with serving(front.delivery, NotingTaker("yours", name="yours", slots=50)) as yours:
            await eventually(lambda: len(yours.offers) == 20, within=60)
            await eventually(lambda: mine.offers, within=60)

        await eventually(lambda: look.llen(lists))
        monkeypatch.setattr(redis, "FOREIGN_BACKOFF", (0.001, 0.001))
        monkeypatch.setattr(redis, "MAX_PASSES", 3)
        mine.make_room(1)
        await eventually(lambda: _none_waiting(look, lists), within=60)


async def _none_waiting(look: Any, lists: str) -> bool:
    return not await look.llen(lists)


def test_a_line_rests_longer_while_nothing_is_for_it() -> None:
    async def rests() -> list[float]:
        line = redis._ListConsumer("list", 0, NotingTaker())
        line._rest = 0.3
        await line.wait_if_all_foreign(all_foreign=True)
        longer = line._rest
        line._rest = redis.FOREIGN_BACKOFF[1]
        await line.wait_if_all_foreign(all_foreign=False)
        return [longer, line._rest]

    assert asyncio.run(rests()) == [0.6, redis.FOREIGN_BACKOFF[0]]


async def test_interactive_messages_are_taken_while_background_ones_wait(
    redis_server: str, lists: str, eventually: Eventually
) -> None:
    async with announcing(redis_server, lists) as front, serving(front.delivery, NotingTaker(slots=2)) as taker:
        front.delivery.announce([front.submit(tier=1) for _ in range(10)])
        await eventually(lambda: len(taker.offers) >= 2)
        quick = front.submit(tier=0)
        front.delivery.announce([quick])
        taker.make_room(1)
        await eventually(lambda: quick.uid in [offer.uid for offer in taker.offers])


async def test_after_everything_is_done_redis_holds_nothing_of_ours(
    tmp_path: Path, redis_server: str, lists: str, eventually: Eventually
) -> None:
    """A machine that takes more than five seconds for the jobs announces some twice; workers drop the second message."""
    async with looking_into(redis_server) as look:
        async with on_redis(tmp_path, redis_server, lists) as one, on_redis(tmp_path, redis_server, lists):
            for job in await one.submit_many([Request("echo", n) for n in range(200)]):
                await one.wait(job, timeout=60)
            await eventually(lambda: _none_waiting(look, lists))
        assert await keys_of(look, lists) == set()


async def test_redis_may_be_absent_die_and_come_back_empty(
    tmp_path: Path, eventually: Eventually, caplog: pytest.LogCaptureFixture
) -> None:
    """D19, design 7: a submit is answered at once, and its job is done by a worker that looks by itself."""
    (port,) = free_ports(1)
    folder = tmp_path / "server"
    folder.mkdir()
    async with on_redis(tmp_path, f"redis://127.0.0.1:{port}/0") as press:
        assert await press.wait(await press.submit("echo", "absent"), timeout=60) == "absent"
        for n in range(2):
            with valkey(folder, port=port) as url:
                async with looking_into(url) as look:
                    await eventually(lambda look=look: look.exists(*_signs(press)), within=60)
                    assert await press.wait(await press.submit("echo", n), timeout=60) == n
            assert await press.wait(await press.submit("echo", "gone"), timeout=60) == "gone"
    told = [line.getMessage() for line in caplog.records if line.levelno >= logging.WARNING]
    assert sum("cannot be reached" in line for line in told) == 1
    assert sum("is back" in line for line in told) == 1
    assert not any("delivery failed" in line or "announcing failed" in line for line in told)


async def test_without_redis_a_worker_that_found_work_looks_on_until_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It used to do two background jobs a second, however many waited: the slot that it keeps free found none."""
    monkeypatch.setattr(redis.Redis, "min_poll_interval", 1e9)  # it looks when it starts, and never again of its own accord
    nowhere = f"redis://127.0.0.1:{free_ports(1)[0]}/0"
    async with on_redis(tmp_path, nowhere, workers=None) as front:
        jobs = await front.submit_many([Request("echo", n, tier=Tier.BACKGROUND) for n in range(20)])
        async with on_redis(tmp_path, nowhere):
            assert [await front.wait(job, timeout=60) for job in jobs] == list(range(20))


def _signs(press: Pressroom) -> list[str]:
    assert press.worker is not None
    return [f"render_jobs:alive:{press.worker.name}"]


async def test_a_redis_that_hangs_delays_nobody_who_submits_or_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis, "LEAVE_WITHIN", 2.0)
    (port,) = free_ports(1)
    command = [valkey_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with running(command, tmp_path / "valkey.log", environ=dict(os.environ)) as server:
        wait_until(lambda: b"eady to accept" in (tmp_path / "valkey.log").read_bytes(), server, tmp_path / "valkey.log")
        async with on_redis(tmp_path, f"redis://127.0.0.1:{port}/0") as press:
            assert await press.wait(await press.submit("echo", "well"), timeout=60) == "well"
            os.kill(server.pid, signal.SIGSTOP)
            assert await press.wait(await press.submit("echo", "hanging"), timeout=60) == "hanging"


@pytest.mark.parametrize("setting", ["--requirepass right", "--replicaof 127.0.0.1 1"])
async def test_a_redis_that_will_not_have_us_is_told_without_the_password(
    tmp_path: Path, setting: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong password, and a replica that only reads: the jobs are done all the same."""
    (port,) = free_ports(1)
    command = [valkey_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", *setting.split()]
    with ExitStack() as stack:
        server = stack.enter_context(running(command, tmp_path / "valkey.log", environ=dict(os.environ)))
        wait_until(lambda: b"eady to accept" in (tmp_path / "valkey.log").read_bytes(), server, tmp_path / "valkey.log")
        secret = ":s3cret@" if "requirepass" in setting else ""
        async with on_redis(tmp_path, f"redis://{secret}127.0.0.1:{port}/0") as press:
            for n in range(2):
                assert await press.wait(await press.submit("echo", n), timeout=60) == n
    assert "Redis at" in caplog.text
    assert "s3cret" not in caplog.text
    assert "failed" not in caplog.text


@pytest.mark.parametrize(
    "url", ["redis://:s3/cret@127.0.0.1:6379/0", "redis://127.0.0.1:port/0?password=s3cret", "redis://127.0.0.1/0?s3=1"]
)
async def test_an_address_that_cannot_be_used_is_refused_at_the_start(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidSettings, match="redis_url") as refused:
        async with on_redis(tmp_path, url):
            pass
    assert "cret" not in str(refused.value)


async def test_what_the_address_says_does_not_break_how_we_read(redis_server: str, lists: str, eventually: Eventually) -> None:
    """`decode_responses` would make text of messages, and a short timeout would break off every wait."""
    url = f"{redis_server}?decode_responses=true&socket_timeout=0.01"
    async with announcing(url, lists) as front, serving(front.delivery, NotingTaker()) as taker:
        front.delivery.announce([front.submit()])
        await eventually(lambda: taker.offers)
