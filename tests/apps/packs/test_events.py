"""The events of one pack, as a stream: its own jobs' and no others', until its link is withdrawn."""

from functools import partial
from types import SimpleNamespace

import pytest

from pressroom.api import streams
from pressroom.store.jobs import queries
from tests.apps.packs.conftest import Stage, Staging
from tests.web.test_live import Ear


async def last_event(stage: Stage) -> int:
    return await stage.app.packs.database.read(queries.last_event_id)


async def test_a_stream_tells_the_events_of_its_pack_alone(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        await stage.configure()
        pack, other = await stage.new_pack(), await stage.new_pack()
        before = await last_event(stage)
        await stage.http.post(f"/packs/{other}/render/offer")
        await stage.http.post(f"/packs/{pack}/render/offer")
        job = (await stage.documents(pack))["offer"]["job_id"]

        events = stage.app.packs.events(await stage.app.packs.get(None, pack), before)
        first = await anext(events)
        await events.aclose()

        assert (await stage.press.get(job)).uid == first.uid
        assert first.type == "queued"


async def test_a_stream_by_a_link_ends_when_the_link_is_withdrawn(staged: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.05)
    async with staged(workers=None, allowed_hosts=("pressroom",)) as stage:
        pack = await stage.new_pack()
        link = (await stage.http.post(f"/packs/{pack}/link")).json()["link"]
        async with Ear(SimpleNamespace(app=stage.asgi), f"/packs/{pack}/events", f"link={link}") as ear:  # type: ignore[arg-type]
            await ear.until(b": still here", 2)
            await stage.http.delete(f"/packs/{pack}/link")
            await ear.end()

        assert ear.status == 200


async def test_a_link_works_until_it_expires(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        pack = await stage.new_pack()
        link = (await stage.http.post(f"/packs/{pack}/link?seconds=1000")).json()["link"]
        reached = await stage.app.packs.get_by_link(link)
        unit = partial(_expire, pack)
        await stage.app.packs.database.run(unit, name="test")

        late = await stage.client(None).get(f"/packs/{pack}/documents?link={link}")

        assert reached.id == pack
        assert late.status_code == 404


def _expire(pack: str):  # type: ignore[no-untyped-def]
    from pressroom.apps.packs.store import get_pack
    from pressroom.model import Statement

    found = yield from get_pack("", pack)
    yield Statement("packs.set_pack_link", {"id": pack, "digest": found.link_digest, "expires_at": 1, "now": 1})
