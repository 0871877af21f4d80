"""A kept render expires only when it is no longer used; of the rest, the least recently used goes first."""

from datetime import timedelta
from functools import partial
from typing import Any

from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.kinds.rendering import INLINE
from pressroom.store.artifacts import artifacts
from tests.apps.diagrams.conftest import Easel, Stage, Staging, ended


async def drawn(stage: Stage, source: str) -> dict[str, Any]:
    told = await ended(stage, await stage.http.post("/render", json={"source": source, "format": "dot"}))
    assert told["status"] == "completed"
    return told


async def keep(stage: Stage, told: dict[str, Any]) -> None:
    job = await stage.press.get(told["jobId"])
    assert await stage.press.app("diagrams").diagrams.keep_render(job.result["artifact"]) is not None


async def later(stage: Stage, *, limit: int = 0, **how_long: int) -> None:
    """So much time passes, and everything that nothing needs any more is deleted."""
    stage.clock.advance(seconds=timedelta(**how_long).total_seconds())
    await stage.press.maintenance.prune()
    await collect_garbage(stage.press.rendering.blobs, stage.press.rendering.database, grace=0, cache_limit=limit)


async def test_a_kept_link_and_its_source_live_for_thirty_days_after_the_last_use(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await drawn(stage, "digraph { kept }")
        await keep(stage, told)

        for _ in range(3):
            await later(stage, days=29)
            assert (await stage.http.get(told["url"])).status_code == 200
        job = await stage.press.get(told["jobId"])
        await later(stage, days=29)
        hit = await stage.http.post("/render", json={"source": "digraph { kept }", "format": "dot"})
        await later(stage, days=29)
        assert (await stage.http.get(told["url"])).status_code == 200
        shown = (await stage.http.get(told["statusUrl"])).json()
        await later(stage, days=31)
        gone = await stage.http.get(told["url"])

    assert job.payload["source"] == "digraph { kept }"
    assert (hit.status_code, hit.json()["jobId"]) == (200, told["jobId"])
    assert shown["expiresAt"] > told["completedAt"]
    assert gone.status_code == 404
    assert len(easel.drew) == 1


async def test_a_long_source_is_kept_as_long_as_its_link(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await drawn(stage, f"digraph {{ {'a' * INLINE} }}")
        await keep(stage, told)
        await later(stage, days=29)
        job = await stage.press.get(told["jobId"])
        source = await stage.press.artifact(job.payload["source_artifact"])
        data = b"".join([chunk async for chunk in await stage.press.read(source)])

    assert len(data) > INLINE


async def test_what_is_not_kept_lives_as_long_as_the_setting_says(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"cache_ttl": 7 * 86_400.0}) as stage:
        told = await drawn(stage, "digraph { a }")
        await later(stage, days=6)
        assert (await stage.http.get(told["url"])).status_code == 200
        await later(stage, days=1)

        assert (await stage.http.get(told["url"])).json()["code"] in ("expired", "not_found")


async def test_a_job_whose_picture_has_expired_says_when_and_names_no_link(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await drawn(stage, "digraph { a }")
        stage.clock.advance(seconds=301)
        shown = (await stage.http.get(told["statusUrl"])).json()

    assert shown["status"] == "completed"
    assert (shown["url"], shown["shortlink"]) == (None, None)
    assert shown["expiresAt"] == told["expiresAt"] == "2027-01-15T08:05:00Z"


async def test_where_the_cache_is_full_what_was_not_used_for_longest_goes_first(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"cache_ttl": 7 * 86_400.0}) as stage:
        kept, first, second, third = [await drawn(stage, f"digraph {{ {n} }}") for n in range(4)]
        await keep(stage, kept)
        sizes = [len((await stage.http.get(one["url"])).content) for one in (first, second, third)]
        await later(stage, hours=2)
        assert (await stage.http.get(first["url"])).status_code == 200  # a use by its link
        await later(stage, hours=2)
        hit = await stage.http.post("/render", json={"source": "digraph { 3 }", "format": "dot"})  # one by its input
        await later(stage, hours=2, limit=sum(sizes[1:]))
        codes = [(await stage.http.get(one["url"])).status_code for one in (kept, first, second, third)]
        shown = (await stage.http.get(second["statusUrl"])).json()
        await later(stage, hours=2, limit=1)
        left = [(await stage.http.get(one["url"])).status_code for one in (kept, first, second, third)]

    assert hit.json()["jobId"] == third["jobId"]
    assert codes == [200, 200, 404, 200]
    assert (shown["url"], shown["expiresAt"]) == (None, "2027-01-15T14:00:00Z")
    assert left == [200, 404, 404, 404], "what somebody keeps does not go for want of room"


async def test_a_later_render_of_the_same_input_does_not_replace_what_is_kept(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await drawn(stage, "digraph { a }")
        await keep(stage, told)
        again = await stage.press.retry(told["jobId"])
        await stage.press.wait(again, timeout=60)
        await later(stage, days=29)
        hit = await stage.http.post("/render", json={"source": "digraph { a }", "format": "dot"})

    assert hit.json()["jobId"] == told["jobId"]
    assert len(easel.drew) == 2


async def test_a_kept_link_that_is_used_in_its_last_minute_lives_on_for_all_of_its_time(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"kept_link_ttl": 40.0}) as stage:
        told = await drawn(stage, "digraph { a }")
        await keep(stage, told)
        stage.clock.advance(seconds=39)
        hit = await stage.http.post("/render", json={"source": "digraph { a }", "format": "dot"})

    assert hit.json()["expiresAt"] == "2027-01-15T08:01:19Z"


async def test_what_has_expired_cannot_be_kept(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await drawn(stage, "digraph { a }")
        artifact = (await stage.press.get(told["jobId"])).result["artifact"]
        stage.clock.advance(seconds=301)

        assert await stage.press.app("diagrams").diagrams.keep_render(artifact) is None
        expiry = await stage.press.rendering.database.read(partial(artifacts.expiry_of, artifact))

    assert expiry is not None
    assert expiry.is_over


async def test_a_later_render_replaces_what_was_kept_once_that_has_expired(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await drawn(stage, "digraph { a }")
        await keep(stage, told)
        stage.clock.advance(seconds=timedelta(days=31).total_seconds())  # nothing was pruned since
        again = await drawn(stage, "digraph { a }")
        hit = await stage.http.post("/render", json={"source": "digraph { a }", "format": "dot"})

    assert again["jobId"] != told["jobId"]
    assert (hit.status_code, hit.json()["jobId"]) == (200, again["jobId"])
    assert len(easel.drew) == 2
