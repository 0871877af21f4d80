"""Whoever asked to be told of a job's end is told: signed, once per event, again until it works, and never lost."""

import asyncio
import contextlib
import json
import logging
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from pressroom.clock import ManualClock
from pressroom.ids import new_uid
from pressroom.kinds import webhooks as hooks
from pressroom.model import GaveUp, Status, Succeeded
from pressroom.notify import standard_webhooks as rules
from pressroom.notify import webhook_client
from pressroom.notify.webhook_client import NoResponse, WebhookClient, WebhookResponse
from pressroom.store.engine.statements import load
from pressroom.store.jobs import claiming, endings, rescue, submitting
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement
from pressroom.store.webhooks import webhooks
from pressroom.submission.request import Request, check_request
from pressroom.testing import SteppedStore
from tests import looking
from tests.loop_guard import own_work
from tests.service.webhook_stage import ALL, NAME, answer, on_stage, receiving, shout

type Eventually = Callable[..., Any]


def verified(secret: str, received: Any) -> dict[str, Any]:
    """What a receiver makes of it, with the library that receivers use."""
    return Webhook(secret).verify(received.body, received.headers)


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """And give a busy machine time to deliver."""
    monkeypatch.setattr(hooks, "DISPATCH_INTERVAL", 0.02)
    monkeypatch.setattr(webhook_client, "TIMEOUT", 600.0)
    monkeypatch.setattr(webhook_client, "EXCERPT_WAIT", 60.0)


# What is sent


async def test_a_receiver_is_told_over_tls_and_can_verify_who_told(database: str, eventually: Eventually) -> None:
    async with on_stage(database, tls=True) as stage:
        webhook = await stage.webhook(url=f"https://{NAME}:{stage.receiver.port}/hook?tenant=7")

        job = await stage.ended({"text": "hi"})
        await eventually(lambda: stage.receiver.received)

        (received,) = stage.receiver.received
        assert received.path == "/hook?tenant=7"
        assert received.headers["content-type"] == "application/json"
        told = verified(webhook["secret"], received)
        assert told["type"] == "job.completed"
        assert datetime.fromisoformat(told["timestamp"]) == job.date_completed
        assert told["data"]["id"] == str(job)
        assert told["data"]["result"] == {"text": "hi"}
        assert told["data"]["url"] == f"https://press.test/jobs/{job}"
        with pytest.raises(WebhookVerificationError):
            verified(rules.new_secret(), received)
        delivery = await eventually(lambda: _in_state(stage, webhook, "delivered"))
        assert delivery["id"] == received.headers["webhook-id"]
        assert (delivery["status"], delivery["attempts"], delivery["job_id"]) == (204, 1, str(job))


async def test_a_failure_and_a_cancel_are_told_with_their_reasons_and_without_tracebacks(
    database: str, eventually: Eventually
) -> None:
    async with on_stage(database) as stage:
        await stage.webhook()
        later = await stage.press.submit("shout", "later", org_id="acme", delay=3600)

        await stage.press.cancel(later, reason="nobody wants it")
        await stage.ended("fail")
        await eventually(lambda: len(stage.receiver.received) == 2)

        told = {one["type"]: one["data"] for one in (json.loads(received.body) for received in stage.receiver.received)}
        assert told["job.cancelled"]["reason"] == "nobody wants it"
        assert told["job.failed"]["error"]["code"] == "handler_error"
        assert told["job.failed"]["status"] == "failed"
        assert "failed as it was told to" not in str(told)


async def test_only_the_chosen_events_of_the_chosen_kinds_are_told(database: str, eventually: Eventually) -> None:
    async with on_stage(database) as stage:
        failures = await stage.webhook(events=["job.failed"])
        renders = await stage.webhook(kinds=["render"])
        both = await stage.webhook(events=["job.completed", "job.failed"], kinds=["render", "shout"])

        await stage.ended("hi")
        await stage.ended("fail")
        await eventually(lambda: len(stage.receiver.received) == 3)

        assert [one["type"] for one in (await stage.get(f"/webhooks/{failures['id']}/deliveries"))["items"]] == ["job.failed"]
        assert (await stage.get(f"/webhooks/{renders['id']}/deliveries"))["items"] == []
        assert len((await stage.get(f"/webhooks/{both['id']}/deliveries"))["items"]) == 2


async def test_telling_of_a_delivery_is_not_itself_told(database: str, eventually: Eventually) -> None:
    async with on_stage(database) as stage:
        webhook = await stage.webhook()

        await stage.ended()
        await eventually(lambda: _in_state(stage, webhook, "delivered"))
        await stage.press.webhooks.submit_due_deliveries()

        assert len((await stage.get(f"/webhooks/{webhook['id']}/deliveries"))["items"]) == 1


async def test_one_organisation_is_never_told_of_another_s_jobs(database: str, eventually: Eventually) -> None:
    async with on_stage(database) as stage:
        acme, other, nobody = [await stage.webhook(org=org) for org in ("acme", "other", None)]

        job = await stage.ended("ours", org="acme")
        await eventually(lambda: stage.receiver.received)
        await stage.press.webhooks.submit_due_deliveries()

        assert [json.loads(one.body)["data"]["id"] for one in stage.receiver.received] == [str(job)]
        assert await stage.delivery(acme)
        for org, webhook in (("other", other), (None, nobody)):
            assert (await stage.get(f"/webhooks/{webhook['id']}/deliveries", org))["items"] == []


def test_a_long_result_is_left_out_and_a_body_stays_below_20_kilobytes() -> None:
    facts: dict[str, Any] = {
        "id": new_uid(),
        "kind": "render",
        "status": "failed",
        "subject": "s" * 255,
        "key": "k" * 512,
        "project_id": None,
        "build_id": None,
        "attempts": 1,
        "last_error": "\N{GRINNING FACE}" * 2000,
        "error": {"code": "source_invalid", "message": "\N{GRINNING FACE}" * 2000},
        "result": "\N{GRINNING FACE}" * 11_000,
        "result_omitted": False,
        "created": 1,
        "started": None,
        "completed": 2,
    }
    body = rules.encode_payload("job.failed", datetime(2026, 1, 1), facts, "https://press.test")

    assert len(body) < 20_000
    told = json.loads(body)["data"]
    assert (told["result"], told["result_omitted"]) == (None, True)
    assert told["error"]["code"] == "source_invalid"


async def test_a_job_with_a_long_result_says_where_it_is(database: str, eventually: Eventually) -> None:
    async with on_stage(database) as stage:
        await stage.webhook()
        job = await stage.ended("x" * 100_000)
        await eventually(lambda: stage.receiver.received)

        told = json.loads(stage.receiver.received[0].body)["data"]
        assert (told["result"], told["result_omitted"], told["url"]) == (None, True, f"https://press.test/jobs/{job}")


async def test_while_secrets_change_both_sign_and_only_the_last_two_ever_do(database: str, eventually: Eventually) -> None:
    async with on_stage(database) as stage:
        webhook = await stage.webhook()
        second = (await stage.post(f"/webhooks/{webhook['id']}/rotate")).json()["secret"]

        await stage.ended()
        await eventually(lambda: stage.receiver.received)

        received = stage.receiver.received[0]
        assert verified(webhook["secret"], received) == verified(second, received)
        assert len(received.headers["webhook-signature"].split(" ")) == 2

        third = (await stage.post(f"/webhooks/{webhook['id']}/rotate")).json()["secret"]
        await stage.ended()
        await eventually(lambda: len(stage.receiver.received) == 2)

        received = stage.receiver.received[1]
        assert verified(second, received) == verified(third, received)
        with pytest.raises(WebhookVerificationError):
            verified(webhook["secret"], received)


async def test_after_a_day_the_old_secret_signs_no_more(database: str, eventually: Eventually) -> None:
    clock = ManualClock()
    async with on_stage(database, clock=clock) as stage:
        webhook = await stage.webhook()
        await stage.post(f"/webhooks/{webhook['id']}/rotate")
        clock.advance(hours=25)

        await stage.ended()
        await eventually(lambda: stage.receiver.received)

        assert " " not in stage.receiver.received[0].headers["webhook-signature"]


# Trying again


async def test_a_delivery_is_tried_ten_times_over_three_days_and_then_fails(database: str, eventually: Eventually) -> None:
    clock = ManualClock()
    async with on_stage(database, clock=clock) as stage:
        webhook = await stage.webhook()
        stage.receiver.script = [answer(500, body=b"the database is on fire")] * 10
        await stage.ended()
        waits = []

        for attempt in range(1, 10):
            waiting = await eventually(lambda n=attempt: _after_attempt(stage, webhook, n))
            assert (waiting["state"], waiting["status"]) == ("waiting", 500)
            waits.append(_moment(waiting["next_attempt"]) - _moment(waiting["date_attempted"]))
            clock.advance(seconds=waits[-1].total_seconds() + 0.01)
        failed = await eventually(lambda: _in_state(stage, webhook, "failed"))

        for wait, plain in zip(waits, rules.SCHEDULE[1:], strict=True):
            assert abs(wait - timedelta(seconds=plain)) <= timedelta(seconds=plain * 0.1)
        assert (failed["attempts"], failed["response"]) == (10, "the database is on fire")
        assert failed["error"] == "the receiver answered 500"
        assert len(set(stage.receiver.ids)) == 1
        assert len({one.body for one in stage.receiver.received}) == 1
        assert len({one.headers["webhook-timestamp"] for one in stage.receiver.received}) == 10
        job = await stage.press.get(failed["delivered_by"])
        assert (job.status, job.failures) == ("failed", 10)


def test_the_waits_are_those_of_the_standard_spread_by_jitter() -> None:
    patience = rules.WebhookBackoff()

    assert [patience.delay(failures, 0.5) for failures in range(1, 10)] == list(rules.SCHEDULE[1:])
    assert patience.delay(1, 0.0) == pytest.approx(4.5)
    assert patience.delay(1, 1.0) == pytest.approx(5.5)
    assert patience.delay(99, 0.5) == 24 * 3600
    assert all(earlier < later for earlier, later in pairwise(rules.SCHEDULE))


async def test_a_receiver_that_names_a_time_is_left_alone_until_then(database: str, eventually: Eventually) -> None:
    clock = ManualClock()
    async with on_stage(database, clock=clock) as stage:
        webhook = await stage.webhook()
        stage.receiver.script = [answer(503, "Retry-After: 1000"), answer(429, "Retry-After: 1")]
        await stage.ended()

        waiting = await eventually(lambda: _after_attempt(stage, webhook, 1))
        assert _moment(waiting["next_attempt"]) - _moment(waiting["date_attempted"]) == timedelta(seconds=1000)

        clock.advance(seconds=1001)
        waiting = await eventually(lambda: _after_attempt(stage, webhook, 2))
        wait = _moment(waiting["next_attempt"]) - _moment(waiting["date_attempted"])
        assert wait == timedelta(seconds=300)  # it may ask for more patience than the schedule has, not for less

        clock.advance(seconds=301)
        assert (await eventually(lambda: _in_state(stage, webhook, "delivered")))["attempts"] == 3


async def test_a_receiver_that_always_asks_for_time_is_given_up_all_the_same(database: str, eventually: Eventually) -> None:
    clock = ManualClock()
    async with on_stage(database, clock=clock) as stage:
        webhook = await stage.webhook()
        stage.receiver.script = [answer(429, "Retry-After: 1")] * 20
        await stage.ended()

        for attempt in range(1, 10):
            await eventually(lambda n=attempt: _after_attempt(stage, webhook, n))
            clock.advance(hours=25)
        failed = await eventually(lambda: _in_state(stage, webhook, "failed"))

        assert (failed["attempts"], len(stage.receiver.received)) == (10, 10)


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [
        ("120", 120),
        ("999999999999999999", 24 * 3600),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 100),
        ("Wed, 31 Dec 1969 23:59:59 GMT", 0),
        ("soon", 0),
        ("-5", 0),
        ("Sat, 03 Jan 1970 00:00:00 GMT", 24 * 3600),
        ("१२", 0),
        ("", 0),
        (None, 0),
    ],
)
def test_retry_after_is_read_in_both_spellings_and_is_a_day_at_most(retry_after: str | None, wait: float) -> None:
    assert rules.retry_after_seconds(retry_after, now=0.0) == wait


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        *((status, "delivered") for status in (200, 202, 204, 299)),
        *((status, "refused") for status in (301, 304, 400, 404, 429, 500, 503, 999)),
        (410, "gone"),
    ],
)
def test_only_2xx_is_success(status: int, meaning: str) -> None:
    assert rules.judge_response(WebhookResponse(status, None, ""), now=0.0).meaning == meaning


@pytest.mark.parametrize("status", [302, 308])
async def test_a_redirect_is_a_failure_and_is_not_followed(database: str, eventually: Eventually, status: int) -> None:  # N5
    async with receiving() as canary, on_stage(database) as stage:
        webhook = await stage.webhook()
        stage.receiver.script = [answer(status, f"Location: http://127.0.0.1:{canary.port}/")]

        await stage.ended()
        waiting = await eventually(lambda: _after_attempt(stage, webhook, 1))

        assert waiting["error"] == f"the receiver answered {status}; redirects are not followed"
        assert canary.connections == 0


async def test_410_disables_the_webhook_until_it_is_enabled_again(database: str, eventually: Eventually) -> None:
    async with on_stage(database) as stage:
        webhook = await stage.webhook()
        stage.receiver.script = [answer(410)]
        await stage.ended()
        await eventually(lambda: _in_state(stage, webhook, "failed"))

        assert "410" in (await stage.get(f"/webhooks/{webhook['id']}"))["disabled_because"]
        await stage.ended()
        assert len((await stage.get(f"/webhooks/{webhook['id']}/deliveries"))["items"]) == 1
        tested = (await stage.post(f"/webhooks/{webhook['id']}/test")).json()
        await eventually(lambda: _in_state(stage, webhook, "cancelled"))
        assert len(stage.receiver.received) == 1

        assert (await stage.post(f"/webhooks/{webhook['id']}/enable")).json()["disabled_because"] is None
        await stage.post(f"/webhooks/deliveries/{tested['id']}/replay")
        await eventually(lambda: _in_state(stage, webhook, "delivered"))


async def test_a_receiver_that_says_nothing_is_not_waited_for(
    database: str, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_client, "TIMEOUT", 0.1)
    async with on_stage(database) as stage:
        webhook = await stage.webhook()
        stage.receiver.hold = 0.3

        await stage.ended()
        waiting = await eventually(lambda: _after_attempt(stage, webhook, 1))

        assert waiting["error"] == "no answer within 0.1 s"


@pytest.mark.parametrize(
    ("sent", "status", "kept"),
    [
        (answer(500, body=b"x" * 5000), 500, "x" * 1024),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 200, "abcde"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n" + b"x" * 3000, 200, "x" * 1024),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", 200, ""),
        (b"HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + answer(201), 201, ""),
        (
            b"HTTP/1.0 200 OK\r\n\r\nhi \xff\x00\x1b[31m",
            200,
            "hi \N{REPLACEMENT CHARACTER}" + "\N{REPLACEMENT CHARACTER}" * 2 + "[31m",
        ),
        (b"HTTP/1.1 200\r\nContent-Length: 100\r\n\r\nshort", 200, "short"),
    ],
)
async def test_the_first_kilobyte_of_an_answer_is_kept_and_no_more(sent: bytes, status: int, kept: str) -> None:
    async with receiving() as receiver:
        receiver.script = [sent]

        got = await WebhookClient((f"127.0.0.1:{receiver.port}",)).post(f"http://127.0.0.1:{receiver.port}/", {}, b"{}")

        assert (got.status, got.excerpt) == (status, kept)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 10_000 + b"\r\n",
        b"\xff" * 100,
    ],
)
async def test_what_is_not_http_is_no_answer(sent: bytes) -> None:
    async with receiving() as receiver:
        receiver.script = [sent]

        with pytest.raises(NoResponse):
            await WebhookClient((f"127.0.0.1:{receiver.port}",)).post(f"http://127.0.0.1:{receiver.port}/", {}, b"{}")


async def test_a_body_that_never_ends_does_not_undo_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_client, "EXCERPT_WAIT", 0.05)

    async def dawdle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\na")
        with contextlib.suppress(OSError, EOFError):
            await reader.readexactly(1000)
        writer.close()

    async with await asyncio.start_server(dawdle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert (await WebhookClient((f"127.0.0.1:{port}",)).post(f"http://127.0.0.1:{port}/", {}, b"{}")).status == 200


async def test_a_slow_receiver_does_not_take_every_worker(database: str, eventually: Eventually) -> None:
    async with on_stage(database, workers=8) as stage:
        await stage.webhook()
        stage.receiver.gate = asyncio.Event()
        for _ in range(12):
            await stage.ended()
        await eventually(lambda: stage.receiver.busy == hooks.MAX_PER_WEBHOOK)
        await stage.ended(org="other")  # there is room for work
        stage.receiver.gate.set()
        await eventually(lambda: len(set(stage.receiver.ids)) == 12)

        assert stage.receiver.busiest == hooks.MAX_PER_WEBHOOK


async def test_slow_receivers_take_no_slot_from_other_work(database: str, eventually: Eventually) -> None:
    """With two slots, one of them kept for those who wait, a single slow receiver used to hold up all other work."""
    async with on_stage(database, workers=2) as stage:
        for _ in range(2):
            await stage.webhook()
        stage.receiver.gate = asyncio.Event()
        for _ in range(8):
            await stage.press.submit("shout", "hi", org_id="acme")
        await eventually(lambda: stage.receiver.busy >= 4)

        await stage.ended(org="other")

        assert stage.receiver.busy >= 4, "they still wait for their answers"
        stage.receiver.gate.set()


async def test_deliveries_under_way_are_bounded(database: str, eventually: Eventually, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "WEBHOOK_SLOTS", 3)
    async with on_stage(database) as stage:
        for _ in range(2):
            await stage.webhook()
        stage.receiver.hold = 0.1
        for _ in range(6):
            await stage.press.submit("shout", "hi", org_id="acme")

        await eventually(lambda: len(set(stage.receiver.ids)) == 12)

        assert stage.receiver.busiest <= 3


async def test_a_process_that_delivers_nothing_has_no_couriers(database: str) -> None:
    async with on_stage(database) as stage:
        await stage.ended()
        await stage.press.webhooks.start_worker_if_due()

        assert len(await stage.press.workers()) == 1


async def test_one_that_did_not_answer_is_left_alone_by_its_other_deliveries(
    database: str, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver that never answers would take fifteen seconds of a worker for each of its deliveries."""
    monkeypatch.setattr(webhook_client, "TIMEOUT", 1.0)
    monkeypatch.setattr(hooks, "WEBHOOK_SLOTS", 1)
    async with on_stage(database, workers=1) as stage:
        webhook = await stage.webhook()
        stage.receiver.hold = 3.0
        for _ in range(5):
            await stage.ended()

        async def all_wait() -> bool:
            found = (await stage.get(f"/webhooks/{webhook['id']}/deliveries"))["items"]
            return len(found) == 5 and all(map(_is_put_off, found))

        await eventually(all_wait)
        assert stage.receiver.connections == 1


# By hand


async def test_a_replay_is_the_same_message_delivered_once_more(database: str, eventually: Eventually) -> None:
    async with on_stage(database) as stage:
        webhook = await stage.webhook()
        await stage.ended()
        first = await eventually(lambda: _in_state(stage, webhook, "delivered"))

        replayed = await stage.post(f"/webhooks/deliveries/{first['id']}/replay")
        assert replayed.status_code == 202
        await eventually(lambda: len(stage.receiver.received) == 2)
        second = await eventually(lambda: _in_state(stage, webhook, "delivered"))

        assert second["id"] == first["id"]
        assert second["delivered_by"] == replayed.json()["delivered_by"] != first["delivered_by"]
        assert stage.receiver.received[0].body == stage.receiver.received[1].body
        assert len(set(stage.receiver.ids)) == 1


async def test_a_replay_of_one_that_waits_is_tried_at_once_and_by_one_job_only(database: str, eventually: Eventually) -> None:
    async with on_stage(database, clock=ManualClock()) as stage:
        webhook = await stage.webhook()
        stage.receiver.script = [answer(500)]
        await stage.ended()
        waiting = await eventually(lambda: _after_attempt(stage, webhook, 1))

        await stage.post(f"/webhooks/deliveries/{waiting['id']}/replay")
        await eventually(lambda: _in_state(stage, webhook, "delivered"))

        assert (await stage.press.get(waiting["delivered_by"])).status == "cancelled"
        assert len(stage.receiver.received) == 2


async def test_retrying_the_job_of_a_failed_delivery_delivers_it(database: str, eventually: Eventually) -> None:
    async with on_stage(database, clock=ManualClock()) as stage:
        webhook = await stage.webhook()
        stage.receiver.script = [answer(500)]
        await stage.ended()
        waiting = await eventually(lambda: _after_attempt(stage, webhook, 1))
        await stage.press.cancel(waiting["delivered_by"])
        await eventually(lambda: _in_state(stage, webhook, "cancelled"))

        again = await stage.press.retry(waiting["delivered_by"])

        delivered = await eventually(lambda: _in_state(stage, webhook, "delivered"))
        assert delivered["delivered_by"] == str(again)


async def test_a_test_event_arrives_signed(database: str, eventually: Eventually) -> None:
    async with on_stage(database) as stage:
        webhook = await stage.webhook(events=["job.failed"])

        sent = await stage.post(f"/webhooks/{webhook['id']}/test")
        await eventually(lambda: stage.receiver.received)

        assert (sent.status_code, sent.json()["type"], sent.json()["job_id"]) == (202, "webhook.test", None)
        assert verified(webhook["secret"], stage.receiver.received[0])["type"] == "webhook.test"


async def test_what_waits_for_a_deleted_webhook_is_cancelled(database: str, eventually: Eventually) -> None:
    clock = ManualClock()
    async with on_stage(database, clock=clock) as stage:
        webhook = await stage.webhook()
        stage.receiver.script = [answer(500)]
        await stage.ended()
        waiting = await eventually(lambda: _after_attempt(stage, webhook, 1))

        async with stage.client() as client:
            assert (await client.delete(f"/webhooks/{webhook['id']}")).status_code == 204
        clock.advance(minutes=1)

        assert (await stage.press.wait_until_ended(waiting["delivered_by"], timeout=60)).status == "cancelled"
        assert len(stage.receiver.received) == 1


async def test_a_job_that_names_another_s_delivery_sends_nothing(database: str, eventually: Eventually) -> None:
    """Anybody may submit a job of the kind `webhook`. It finds the deliveries of its own organisation only."""
    async with on_stage(database) as stage:
        webhook = await stage.webhook(org="acme")
        await stage.ended(org="acme")
        delivered = await eventually(lambda: _in_state(stage, webhook, "delivered"))
        theirs = {"delivery": delivered["id"].removeprefix("msg_")}

        for payload in (theirs, None, {}, {"delivery": 7}, {"delivery": "x" * 32}):
            job = await stage.press.wait_until_ended(await stage.press.submit("webhook", payload, org_id="evil"), timeout=60)
            assert job.status in ("cancelled", "failed")

        assert len(stage.receiver.received) == 1
        assert await stage.delivery(webhook) == delivered


# Nothing is lost, nothing is told that must not be


class Steps:
    """The units of work, one by one."""

    def __init__(self) -> None:
        self.store = SteppedStore()
        self.hooks = hooks.Webhooks(self.store.clock)
        self.kinds = {"shout": shout, hooks.NAME: self.hooks.kind}
        self.store.run(kind_rows.register(self.kinds))
        self.webhook = self.store.run(webhooks.add(new_uid(), "acme", "https://example.com/", ALL, None, rules.new_secret()))

    def submit(self) -> Any:
        return self.store.run(submitting.submit(check_request(Request("shout", "hi", org_id="acme"), self.kinds)))

    def claim(self) -> Any:
        (claim,) = self.store.run(claiming.claim("anybody", ["shout"], FreeSlots(1, 1), 15_000))
        return claim

    def owed(self) -> int:
        return len(self.store.run(webhooks.deliveries(self.webhook.uid, "waiting", 1 << 60, 1000)))

    def dispatch(self) -> int:
        return self.store.run(webhooks.submit_due_deliveries(self.hooks._delivery_job, 100))


@pytest.mark.parametrize("way", ["completed", "failed", "cancelled", "crashed"])
def test_whoever_ends_a_job_owes_its_delivery_in_the_same_transaction(way: str) -> None:
    steps = Steps()
    job = steps.submit()

    if way == "cancelled":
        steps.store.run(endings.cancel(job.uid, steps.kinds, "no"))
    else:
        claim = steps.claim()
        if way == "crashed":
            steps.store.raw.execute("UPDATE job SET max_crashes = 1")
            (lost,) = steps.store.run(rescue.find_lost(["anybody"]))
            steps.store.run(rescue.rescue(lost, steps.kinds, 0.0))
        else:
            outcome = Succeeded('"HI"') if way == "completed" else GaveUp({"code": "x", "message": "y"})
            steps.store.run(endings.settle([Settlement(claim, outcome)], steps.kinds))

    (owed,) = steps.store.run(webhooks.deliveries(steps.webhook.uid, None, 1 << 60, 10))
    assert owed.type == f"job.{'failed' if way == 'crashed' else way}"
    assert (owed.facts["id"], owed.job, owed.state) == (job.uid, None, "waiting")


def test_a_transaction_that_is_rolled_back_owes_nothing() -> None:
    steps = Steps()
    steps.submit()
    claim = steps.claim()

    def fails() -> Any:
        yield from endings.settle([Settlement(claim, Succeeded('"HI"'))], steps.kinds)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        steps.store.run(fails())

    assert steps.owed() == 0


def test_what_is_owed_outlives_the_job_that_it_is_about() -> None:
    steps = Steps()
    steps.submit()
    steps.store.run(endings.settle([Settlement(steps.claim(), Succeeded('"HI"'))], steps.kinds))
    steps.store.clock.advance(days=8)

    assert steps.store.run(rescue.prune(100)) == 1

    assert (steps.owed(), steps.dispatch()) == (1, 1)


def test_a_dispatch_that_dies_half_way_is_done_again_whole_and_once() -> None:
    steps = Steps()
    for _ in range(3):
        steps.submit()
        steps.store.run(endings.settle([Settlement(steps.claim(), Succeeded('"HI"'))], steps.kinds))

    def dies() -> Any:
        yield from webhooks.submit_due_deliveries(steps.hooks._delivery_job, 2)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        steps.store.run(dies())

    assert [steps.dispatch(), steps.dispatch()] == [3, 0]
    ((count,),) = steps.store.raw.execute("SELECT count(*) FROM job WHERE kind = 'webhook'")
    assert count == 3


def test_a_job_that_was_replaced_by_a_replay_says_nothing_more_about_the_delivery() -> None:
    """It was posting when the delivery was replayed. What it comes to no longer counts."""
    steps = Steps()
    steps.submit()
    steps.store.run(endings.settle([Settlement(steps.claim(), Succeeded('"HI"'))], steps.kinds))
    steps.dispatch()
    (first,) = steps.store.run(claiming.claim("courier", [hooks.NAME], FreeSlots(1, 1), 15_000))
    (owed,) = steps.store.run(webhooks.deliveries(steps.webhook.uid, None, 1 << 60, 10))
    replayed = steps.store.run(webhooks.replay(owed.uid, steps.hooks._delivery_job, steps.kinds))
    assert replayed.job not in (None, first.uid)

    steps.store.run(webhooks.record_response(owed.uid, first.uid, 500, "late", "the receiver answered 500"))
    steps.store.run(endings.settle([Settlement(first, GaveUp({"code": "x", "message": "y"}))], steps.kinds))

    assert steps.store.run(webhooks.delivery(owed.uid)) == replayed
    steps.store.run(webhooks.record_response(owed.uid, replayed.job, 200, "thanks", None))
    steps.store.run(webhooks.settle(owed.uid, replayed.job, Status.COMPLETED, None))
    delivered = steps.store.run(webhooks.delivery(owed.uid))
    assert (delivered.state, delivered.status, delivered.error) == ("delivered", 200, None)


def test_a_delivery_that_is_over_is_not_settled_again() -> None:
    steps = Steps()
    steps.submit()
    steps.store.run(endings.settle([Settlement(steps.claim(), Succeeded('"HI"'))], steps.kinds))
    steps.dispatch()
    (owed,) = steps.store.run(webhooks.deliveries(steps.webhook.uid, None, 1 << 60, 10))
    steps.store.run(webhooks.settle(owed.uid, owed.job, Status.COMPLETED, None))
    delivered = steps.store.run(webhooks.delivery(owed.uid))
    steps.store.clock.advance(hours=1)

    steps.store.run(webhooks.settle(owed.uid, owed.job, Status.FAILED, "late"))

    assert steps.store.run(webhooks.delivery(owed.uid)) == delivered


def test_old_deliveries_are_forgotten_and_waiting_ones_are_not() -> None:
    steps = Steps()
    for _ in range(2):
        steps.submit()
        steps.store.run(endings.settle([Settlement(steps.claim(), Succeeded('"HI"'))], steps.kinds))
    steps.dispatch()
    first = steps.store.run(webhooks.deliveries(steps.webhook.uid, None, 1 << 60, 10))[-1]
    steps.store.run(endings.cancel(first.job, steps.kinds, "no"))
    steps.store.clock.advance(days=31)

    month = 30 * 24 * 3600 * 1000
    assert [
        steps.store.run(webhooks.delete_old_deliveries(month, 100)),
        steps.store.run(webhooks.delete_old_deliveries(month, 100)),
    ] == [1, 0]
    assert steps.owed() == 1


def test_looking_for_what_is_owed_reads_nothing_else() -> None:
    raw = SteppedStore().raw
    for statement in ("any_delivery_due", "list_due_deliveries"):
        plan = " ".join(str(row[3]) for row in raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')[statement]}", {"limit": 1}))
        assert "webhook_delivery_due" in plan
        assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize(
    ("failpoint", "times"),
    [
        ("turn.before_commit=kill", 1),  # it has not ended, and is rescued
        ("turn.after_commit=kill", 1),  # it has ended, and nobody was told
        ("handler.returned=kill@2", 2),  # it was told, and nobody knows: it is told again, by the same name
    ],
)
async def test_a_crash_between_the_end_and_the_delivery_loses_nothing(
    database: str, eventually: Eventually, failpoint: str, times: int
) -> None:
    async with on_stage(database) as stage:
        webhook = await stage.webhook()
        await stage.press.stop()
        command = [sys.executable, str(Path(__file__).with_name("webhook_victim.py")), database]
        victim = [*command, f"127.0.0.1:{stage.receiver.port}", failpoint]

        killed = await asyncio.to_thread(subprocess.run, victim, timeout=600)
        assert killed.returncode == -9

        again = type(stage.press)(database, kinds=[shout], workers=2, settings=stage.press.settings)
        async with again:
            await eventually(lambda: len(stage.receiver.received) == times, within=60)
            wanted = webhook["id"].removeprefix("wh_")
            delivered = await eventually(lambda: _delivered(again, wanted))
        assert set(stage.receiver.ids) == {f"msg_{delivered.uid}"}
        assert len(stage.receiver.received) == times


async def test_a_secret_is_seen_once_and_then_nowhere(
    database: str, eventually: Eventually, caplog: pytest.LogCaptureFixture
) -> None:
    """L: every answer, log line, job and event of a whole life, and every table but the one that must have it."""
    caplog.set_level(logging.DEBUG)
    url_secret = "canary-in-the-path"
    async with on_stage(database) as stage:
        webhook = await stage.webhook(url=f"{stage.url}/{url_secret}?token={url_secret}")
        rotated = (await stage.post(f"/webhooks/{webhook['id']}/rotate")).json()["secret"]
        stage.receiver.script = [answer(500, body=b"canary-in-the-answer"), answer(302, "Location: http://x/")]
        await stage.ended("fail")
        first = await eventually(lambda: _after_attempt(stage, webhook, 1))
        await stage.post(f"/webhooks/deliveries/{first['id']}/replay")
        await stage.post(f"/webhooks/{webhook['id']}/test")
        await eventually(lambda: len(stage.receiver.received) >= 3)

        shown = [await stage.get(path) for path in ("/webhooks", f"/webhooks/{webhook['id']}")]
        shown.append(await stage.get(f"/webhooks/{webhook['id']}/deliveries"))
        answers = str(shown)
        listed = [await stage.press.get(job.uid) for job in (await stage.press.list(kind="webhook")).jobs]
        history = [await stage.press.history(job) for job in listed]

    with own_work():  # it reads every table six times
        told = caplog.text + str(listed) + str(history)
        for secret in (webhook["secret"], rotated):
            bare = secret.removeprefix("whsec_")
            for hidden in (secret, bare, b64encode(bare.encode()).decode()):
                assert hidden not in answers + told
                assert hidden not in _all_tables_but(database, "webhook_secret")
    assert url_secret not in told
    assert "canary-in-the-answer" not in told


def _all_tables_but(database: str, hidden: str) -> str:
    tables = [name for name in looking.tables(database) if name != hidden]
    return str([looking.rows(database, f'SELECT * FROM "{name}"') for name in tables])


async def _delivered(press: Any, webhook: str) -> Any:
    found = await press.webhooks.deliveries(await press.webhooks.get(webhook), state="delivered", before=1 << 60, limit=10)
    return found[0] if found else None


async def _in_state(stage: Any, webhook: dict[str, Any], state: str) -> Any:
    found = await stage.delivery(webhook)
    return found if found and found["state"] == state else None


async def _after_attempt(stage: Any, webhook: dict[str, Any], attempts: int) -> Any:
    found = await stage.delivery(webhook)
    return found if found and found["attempts"] == attempts and found["next_attempt"] and found["error"] else None


def _is_put_off(delivery: dict[str, Any]) -> bool:
    again = delivery["next_attempt"]
    return again is not None and _moment(again) > _moment(delivery["date_created"]) + timedelta(seconds=3)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
