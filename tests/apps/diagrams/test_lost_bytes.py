"""Bytes that were deleted from the artifact store: the requests that they answered are rendered again."""

import logging
from typing import Any

import pytest

from pressroom import Pressroom
from pressroom.errors import StoreUnavailable
from tests.apps.diagrams.conftest import Easel, Stage, Staging

ARROW = {"source": "digraph { a -> b }", "format": "dot"}


async def rendered(stage: Stage) -> dict[str, Any]:
    answer: dict[str, Any] = (await stage.http.post("/render?mode=sync", json=ARROW)).json()
    return answer


async def lose_all_bytes(press: Pressroom) -> None:
    await press.rendering.blobs.delete([one.key async for one in press.rendering.blobs.list_blobs()])


async def test_a_hit_whose_bytes_are_gone_is_a_miss(staged: Staging, easel: Easel, caplog: pytest.LogCaptureFixture) -> None:
    async with staged() as stage:
        first = await rendered(stage)
        hit = await rendered(stage)
        await lose_all_bytes(stage.press)
        stage.clock.advance(seconds=61)
        with caplog.at_level(logging.ERROR, "pressroom.rendering"):
            second = await rendered(stage)
        picture = await stage.http.get(second["url"])
        old = await stage.http.get(first["url"])

    assert (hit["cached"], hit["url"]) == (True, first["url"])
    assert (second["cached"], len(easel.drew)) == (False, 2)
    assert picture.status_code == 200
    assert old.status_code == 404
    assert "are gone from the artifact store" in caplog.text


async def test_a_render_of_the_library_is_made_again(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        first = await stage.press.render("dot", "digraph { a }", "svg")
        await stage.press.wait(first, timeout=60)
        await lose_all_bytes(stage.press)
        second = await stage.press.render("dot", "digraph { a }", "svg")
        made = await stage.press.wait(second, timeout=60)
        artifact = await stage.press.artifact(made["artifact"])
        data = b"".join([chunk async for chunk in await stage.press.read(artifact)])

    assert second.uid != first.uid
    assert data.startswith(b"<svg")


async def test_an_artifact_store_out_of_reach_makes_no_misses(
    staged: Staging, easel: Easel, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreachable(key: str) -> int:
        raise StoreUnavailable("nobody answers")

    async with staged() as stage:
        first = await rendered(stage)
        monkeypatch.setattr(stage.press.rendering.blobs, "size", unreachable)
        again = await rendered(stage)

    assert (again["cached"], again["url"]) == (True, first["url"])
    assert len(easel.drew) == 1
