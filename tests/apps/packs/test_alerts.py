"""R30: every final failure of a document raises exactly one alert, whatever ended it; a cancel raises none."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from pressroom.apps.packs.settings import PacksSettings
from pressroom.errors import Transient
from pressroom.kinds import webhooks as hooks
from pressroom.notify import webhook_client
from pressroom.renderers import Rendered, documents
from pressroom.store.alerts.alerts import Alert
from tests.apps.packs.conftest import DATA, Stage, Staging
from tests.service.webhook_stage import receiving


async def alerts(stage: Stage) -> list[Alert]:
    return list(await stage.press.alerts.list())


async def test_a_refused_document_raises_one_alert_at_once(staged: Staging) -> None:
    """The template is valid; what it does with this data is not."""
    async with staged() as stage:
        await stage.configure(template__checklist="{{ (tasks | default([]))[0].name.first.letter }}")
        pack = await stage.new_pack(data=DATA | {"tasks": [1]}, title="Anna")

        await stage.http.post(f"/packs/{pack}/render/checklist")

        document = (await stage.settled(pack))["checklist"]
        (alert,) = await alerts(stage)
        assert (document["status"], document["attempts"]) == ("failed", 1)
        assert (alert.kind, alert.subject, alert.count, alert.message) == (
            "packs.render",
            "checklist of Anna",
            1,
            document["last_error"],
        )


async def test_attempts_that_are_used_up_raise_one_alert(staged: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one for each attempt. The next failure of the same document counts on."""

    async def fail(*_: object) -> Rendered:
        raise Transient("the renderer is away")

    async with staged(settings=PacksSettings(max_attempts=2)) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.app.queue.pause("packs.render")  # until the template was analysed
        await stage.http.post(f"/packs/{pack}/render/offer")
        monkeypatch.setattr(documents, "render", fail)
        await stage.app.queue.resume("packs.render")

        document = (await stage.settled(pack))["offer"]

        assert (document["status"], document["attempts"]) == ("failed", 2)
        (alert,) = await alerts(stage)
        assert (alert.count, alert.subject) == (1, f"offer of pack {pack}")
        await stage.http.post(f"/packs/{pack}/render/offer")
        await stage.settled(pack)
        assert [one.count for one in await alerts(stage)] == [2]


async def test_a_cancelled_or_superseded_document_raises_none(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        first = (await stage.http.post(f"/packs/{pack}/render/offer")).json()["job_id"]
        await stage.http.post(f"/packs/{pack}/render/offer")  # supersedes the first version

        await stage.press.cancel(first)

        assert (await stage.documents(pack))["offer"]["status"] == "failed"
        assert await alerts(stage) == []


async def test_an_alert_of_a_document_is_posted_to_the_address_of_the_settings(
    staged: Staging, eventually: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "DISPATCH_INTERVAL", 0.02)
    monkeypatch.setattr(webhook_client, "TIMEOUT", 600.0)
    async with receiving() as receiver:
        address = f"127.0.0.1:{receiver.port}"
        async with staged(alert_webhook_url=f"http://{address}/alerts", webhook_allow=(address,)) as stage:
            await stage.configure("red", template__checklist="{{ (tasks | default([]))[0].name.first.letter }}")
            red = stage.client("red")
            pack = await stage.new_pack(red, data=DATA | {"tasks": [1]}, title="Anna")

            await red.post(f"/packs/{pack}/render/checklist")

            await eventually(lambda: receiver.received)
            told = json.loads(receiver.received[0].body)
            assert (told["type"], told["data"]["kind"], told["data"]["subject"], told["data"]["org_id"]) == (
                "alert.raised",
                "packs.render",
                "checklist of Anna",
                "red",
            )
