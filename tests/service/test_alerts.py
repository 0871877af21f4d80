"""Alerts over HTTP, by webhooks, in the figures and at the command line."""

import asyncio
import json
import logging
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from pressroom import Pressroom, kind
from pressroom.api.access import Scope
from pressroom.cli.main import main
from pressroom.errors import InvalidSettings, JobFailed, SourceInvalid
from pressroom.kinds import webhooks as hooks
from pressroom.kinds.alert_webhook import UNSET, SetBySettings
from pressroom.model import Work
from pressroom.notify import webhook_client
from pressroom.store.alerts.alerts import REPEAT_AFTER
from pressroom.store.jobs.endings import Settlement, settle
from pressroom.store.webhooks.webhooks import ALERT_WEBHOOK
from tests import looking
from tests.service.access_stage import all_bytes
from tests.service.queue_stage import BAD, Floor, build, floor
from tests.service.webhook_stage import Receiver, receiving

type Eventually = Callable[..., Any]

CANARY = "canary-in-the-path"
SECRET = f"whsec_{b64encode(b'0123456789abcdef01234567').decode()}"


@kind("bill", alert=True, max_attempts=1)
def bill(job: object, payload: Any) -> None:
    raise SourceInvalid("the bill cannot be made")


KINDS = {"bill": bill, "build": build}


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """And give a busy machine time to deliver."""
    monkeypatch.setattr(hooks, "DISPATCH_INTERVAL", 0.02)
    monkeypatch.setattr(webhook_client, "TIMEOUT", 600.0)


# Over HTTP


async def test_each_sees_the_alerts_of_their_own_organisation(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        for org in ("acme", "other", None):
            await stage.end(BAD, "bill", org_id=org, subject=f"of {org}")
        seen = {}
        for name, how in (("acme", {"org": "acme"}), ("default", {}), ("all", {"everywhere": True})):
            async with stage.client(await stage.token(Scope.VIEWER, **how)) as client:
                seen[name] = (await client.get("/alerts")).json()

    subjects = {name: [one["subject"] for one in page["items"]] for name, page in seen.items()}
    assert subjects == {"acme": ["of acme"], "default": ["of None"], "all": ["of None", "of other", "of acme"]}
    assert {name: page["open"] for name, page in seen.items()} == {"acme": 1, "default": 1, "all": 3}


async def test_an_acknowledgement_needs_an_operator_of_the_organisation(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        job = await stage.end(BAD, "bill", org_id="acme")
        path = f"/alerts/{(await stage.press.alerts.list())[0].id}/ack"
        answers = {}
        for name, scope, org in (
            ("a viewer", Scope.VIEWER, "acme"),
            ("another's operator", Scope.OPERATOR, "other"),
            ("its operator", Scope.OPERATOR, "acme"),
            ("another admin", Scope.ADMIN, "acme"),
        ):
            async with stage.client(await stage.token(scope, org=org, name=name)) as client:
                answers[name] = await client.post(path)
                never = await client.post("/alerts/12345/ack")
                assert never.status_code == (403 if scope is Scope.VIEWER else 404)
                if answers[name].status_code == 404:
                    assert answers[name].json()["detail"] == never.json()["detail"]
                assert (await client.post("/alerts/x/ack")).status_code in (403, 404)
        entries = looking.rows(database, "SELECT who, action, target, org_id FROM audit")

    assert {name: answer.status_code for name, answer in answers.items()} == {
        "a viewer": 403,
        "another's operator": 404,
        "its operator": 200,
        "another admin": 200,
    }
    acked = answers["its operator"].json()
    assert acked["acked_by"].startswith("its operator (pr_")
    assert (acked["job_id"], acked["count"]) == (f"job_{job.uid}", 1)
    assert answers["another admin"].json() == acked, "the first acknowledgement stays"
    assert [tuple(entry) for entry in entries] == [(acked["acked_by"], "alert.ack", f"alert {acked['id']}", "acme")]


async def test_the_list_is_filtered_and_paged(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        for number in range(5):
            await stage.end(BAD, "bill", subject=str(number))
        async with stage.client(await stage.token(everywhere=True)) as client:
            await client.post(f"/alerts/{(await client.get('/alerts')).json()['items'][0]['id']}/ack")
            first = await client.get("/alerts", params={"open": "true", "limit": "3"})
            second = await client.get(first.headers["link"].partition(">")[0].removeprefix("<"))
            acked = (await client.get("/alerts", params={"open": "false"})).json()["items"]
            none = (await client.get("/alerts", params={"kind": "build"})).json()["items"]
            wrong = [
                (await client.get("/alerts", params=params)).json()["code"]
                for params in ({"open": "maybe"}, {"limit": "0"}, {"cursor": "x"}, {"kind": ""})
            ]

    assert [one["subject"] for one in first.json()["items"]] == ["3", "2", "1"]
    assert ([one["subject"] for one in second.json()["items"]], second.json()["next_cursor"]) == (["0"], None)
    assert [one["subject"] for one in acked] == ["4"]
    assert none == []
    assert wrong == ["invalid_argument"] * 4


async def test_the_figures_tell_how_many_are_open(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        for subject in ("a", "b", "b"):
            await stage.end(BAD, "bill", subject=subject)
        async with stage.client(await stage.token(everywhere=True)) as client:
            text = (await client.get("/metrics")).text

    assert "\npressroom_alerts_open 2.0\n" in text


# By webhooks


def deliveries(database: str) -> list[dict[str, Any]]:
    rows = looking.rows(database, "SELECT facts FROM webhook_delivery WHERE type = 'alert.raised' ORDER BY id")
    return [json.loads(facts) for (facts,) in rows]


async def test_the_delivery_is_owed_from_the_transaction_that_raises_the_alert(database: str) -> None:
    def fail() -> Work[None]:
        yield from settle([Settlement(claim, BAD)], KINDS)
        raise RuntimeError("between the alert and the commit")

    async with floor(database, kinds=KINDS) as stage:
        for org in ("acme", "other"):
            await stage.press.webhooks.add(org, "https://example.org/hook", ["alert.raised"], None)
        claim = await stage.start("bill", org_id="acme")
        with pytest.raises(RuntimeError):
            await stage.run(fail())
        assert deliveries(database) == []
        await stage.run(settle([Settlement(claim, BAD)], KINDS))

        (told,) = deliveries(database)
    assert (told["id"], told["org_id"], told["kind"], told["count"]) == (claim.uid, "acme", "bill", 1)


async def test_repeats_are_told_once_an_hour_and_only_of_the_chosen_kinds(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        await stage.press.webhooks.add(None, "https://example.org/hook", ["alert.raised"], ["bill"])
        await stage.press.webhooks.add(None, "https://example.org/other", ["alert.raised"], ["build"])
        for _ in range(3):
            await stage.end(BAD, "bill")
        assert [told["count"] for told in deliveries(database)] == [1]

        stage.clock.advance(seconds=REPEAT_AFTER / 1000)
        for _ in range(2):
            await stage.end(BAD, "bill")
        assert [told["count"] for told in deliveries(database)] == [1, 4]

        (alert,) = await stage.press.alerts.list()
        await acknowledge(stage, alert.id)
        assert len(deliveries(database)) == 2, "an acknowledgement is not told"
        await stage.end(BAD, "bill")
        assert [told["count"] for told in deliveries(database)] == [1, 4, 1]


async def acknowledge(stage: Floor, id: int) -> None:
    async with stage.client(await stage.token(everywhere=True)) as client:
        assert (await client.post(f"/alerts/{id}/ack")).status_code == 200


@asynccontextmanager
async def posting(database: str, receiver: Receiver, **options: Any) -> AsyncIterator[Pressroom]:
    options = {
        "webhook_allow": (f"127.0.0.1:{receiver.port}",),
        "alert_webhook_url": f"http://127.0.0.1:{receiver.port}/{CANARY}?key={CANARY}",
        "base_url": "https://press.test",
    } | options
    async with Pressroom(database, kinds=[bill], workers=1, **options) as press:
        yield press


async def failing(press: Pressroom, **how: Any) -> str:
    job = await press.submit("bill", **how)
    with pytest.raises(JobFailed):
        await press.wait(job, timeout=60)
    return f"job_{job.uid}"


async def test_every_alert_is_posted_to_the_address_of_the_settings(
    database: str, eventually: Eventually, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with receiving() as receiver, posting(database, receiver, alert_webhook_secret=SECRET) as press:
        job = await failing(press, org_id="acme", subject="Offer 7")
        await eventually(lambda: receiver.received)
        (received,) = receiver.received
        told = Webhook(SECRET).verify(received.body, received.headers)
        found = await eventually(lambda: _delivered(press))
        (webhook,) = await press.webhooks.list(None, after="", limit=10)
        for change in (press.webhooks.remove, press.webhooks.rotate):
            with pytest.raises(SetBySettings):
                await change(webhook)

    assert received.path == f"/{CANARY}?key={CANARY}"
    assert told["type"] == "alert.raised"
    assert {name: told["data"][name] for name in ("org_id", "kind", "subject", "code", "message", "count", "job_id")} == {
        "org_id": "acme",
        "kind": "bill",
        "subject": "Offer 7",
        "code": "source_invalid",
        "message": "the bill cannot be made",
        "count": 1,
        "job_id": job,
    }
    assert told["data"]["url"] == "https://press.test/desk/alerts"
    assert webhook.url == f"http://127.0.0.1:{receiver.port}/…"
    assert found.response == ""
    assert CANARY.encode() not in all_bytes(database, tmp_path), "neither in a row, nor in a file beside the database"
    assert CANARY not in caplog.text
    assert CANARY not in repr(press.settings)


async def _delivered(press: Pressroom) -> Any:
    webhook = await press.webhooks.get(ALERT_WEBHOOK)
    found = await press.webhooks.deliveries(webhook, state="delivered", before=1 << 62, limit=10)
    return found[0] if found else None


async def test_without_a_secret_it_is_not_signed_and_without_the_setting_nothing_is_posted(
    file: str, eventually: Eventually
) -> None:
    async with receiving() as receiver:
        async with posting(file, receiver) as press:
            await failing(press, subject="one")
            await eventually(lambda: receiver.received)
        assert "webhook-signature" not in receiver.received[0].headers

        async with posting(file, receiver, alert_webhook_url="") as press:
            assert (await press.webhooks.get(ALERT_WEBHOOK)).disabled_because == UNSET
            await failing(press, subject="two")
        async with posting(file, receiver) as press:
            assert (await press.webhooks.get(ALERT_WEBHOOK)).disabled_because is None
            await failing(press, subject="three")
            await eventually(lambda: len(receiver.received) == 2)

    assert [told["subject"] for told in deliveries(file)] == ["one", "three"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alert_webhook_url": f"http://127.0.0.1:9/{CANARY}"}, "https://"),
        ({"alert_webhook_url": f"https://10.0.0.1/{CANARY}"}, "public"),
        ({"alert_webhook_url": f"ftp://example.org/{CANARY}"}, "https://"),
        ({"alert_webhook_url": f"https://{CANARY}:pw@example.org/"}, "user name"),
        ({"alert_webhook_secret": CANARY}, "whsec_"),
        ({"alert_retention": 60.0}, "less than a day"),
    ],
)
async def test_settings_that_cannot_be_are_refused_and_not_shown(file: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSettings, match=words) as refused:
        async with Pressroom(file, kinds=[bill], workers=None, **options):
            pass
    assert CANARY not in str(refused.value)


# At the command line


def test_alerts_are_listed_and_acknowledged_at_the_command_line(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.run(_three_alerts(database))

    def run(*argv: str) -> tuple[int, Any]:
        code = main(["alerts", *argv, "--json", "--database", database])
        out = capsys.readouterr().out
        return code, [json.loads(line) for line in out.splitlines()]

    _, (listed,) = run("list")
    assert [(one["subject"], one["count"], one["acked_by"]) for one in listed] == [
        ("c", 1, None),
        ("b", 1, None),
        ("a", 1, None),
    ]
    assert listed[0]["job_id"].startswith("job_")
    code, (acked,) = run("ack", str(listed[0]["id"]))
    assert (code, acked["acked_by"]) == (0, "command line")
    assert run("ack", "--all", "--org", "acme") == (0, [{"acknowledged": 1}])
    assert [one["subject"] for one in run("list")[1][0]] == ["b"]
    assert {one["subject"] for one in run("list", "--acked")[1][0]} == {"a", "c"}
    assert run("ack", "12345")[0] == 6
    assert run("ack")[0] == 2
    assert main(["alerts", "list", "--database", database]) == 0
    assert "the default organisation" in capsys.readouterr().out
    actions = looking.rows(database, "SELECT who, action FROM audit ORDER BY id")
    assert [tuple(one) for one in actions] == [("command line", "alert.ack"), ("command line", "alert.ack_all")]


async def _three_alerts(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage:
        for subject, org in (("a", "acme"), ("b", None), ("c", None)):
            await stage.end(BAD, "bill", subject=subject, org_id=org)
