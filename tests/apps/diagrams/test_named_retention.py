"""A name may be edited for ever: all versions stay, or as many as the operator allows."""

from collections.abc import Callable
from typing import Any

import httpx

from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.artifact_lifecycle.fsck import fsck
from tests.apps.diagrams.conftest import Easel, Stage, Staging
from tests.apps.diagrams.test_named import count


async def put(stage: Stage, source: str, query: str = "?mode=sync") -> httpx.Response:
    return await stage.http.put(f"/diagrams/arch{query}", json={"source": source, "format": "dot"})


async def numbers(stage: Stage, path: str = "/diagrams/arch") -> list[int]:
    return [version["number"] for version in (await stage.http.get(path)).json()["versions"]]


async def test_by_default_every_version_stays_and_can_be_paged_through(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for number in range(1, 121):
            await put(stage, f"text {number}")

        first = await stage.http.get("/diagrams/arch")
        seen, link = [version["number"] for version in first.json()["versions"]], first.headers.get("link")
        while link is not None:
            path, _, rest = link.removeprefix("<").partition(">")
            assert rest == '; rel="next"'
            page = await stage.http.get(path)
            seen += [version["number"] for version in page.json()["versions"]]
            link = page.headers.get("link")

        assert seen == list(range(120, 0, -1))
        assert (await stage.http.get("/a/arch@1.svg")).text == "<svg>text 1|svg|light</svg>"


async def test_an_old_text_can_be_looked_at(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for source in ("a", "broken", "c"):
            await put(stage, source)
        old = await stage.http.get("/diagrams/arch?version=2")

        assert (old.json()["source"], old.json()["version"], old.json()["status"]) == ("broken", 2, "failed")
        assert (old.json()["good"], await numbers(stage, "/diagrams/arch?version=2")) == (3, [2, 1])
        assert (await stage.http.get("/diagrams/arch?version=4")).status_code == 404
        for wrong in ("0", "-1", "x", "1e3", "9999999999"):
            assert (await stage.http.get(f"/diagrams/arch?version={wrong}")).status_code == 422, wrong


async def test_with_a_bound_the_oldest_go_and_say_so(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"max_versions": 3}) as stage:
        for number in range(1, 8):
            await put(stage, f"text {number}")
        await stage.http.get("/a/arch@7.png")

        gone = await stage.http.get("/a/arch@4.svg", headers={"Accept": "application/json"})
        picture = await stage.http.get("/a/arch@4.svg")
        assert await numbers(stage) == [7, 6, 5]
        assert (gone.status_code, gone.json()["code"]) == (410, "version_gone")
        assert gone.json()["detail"] == "version 4 of arch is no longer kept"
        assert (picture.headers["content-type"], picture.headers["cache-control"]) == ("image/svg+xml", "no-store")
        assert (await stage.http.get("/diagrams/arch?version=1")).status_code == 410
        assert (await stage.http.get("/a/arch@8.svg")).status_code == 404
        assert (await stage.http.get("/a/arch@5.svg")).text == "<svg>text 5|svg|light</svg>"
        assert count(stage, "diagram_picture") == 4


async def test_what_was_drawn_of_a_version_that_went_is_collected(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"max_versions": 2}) as stage:
        for number in range(1, 6):
            await put(stage, f"text {number}")
            await stage.http.get("/a/arch.png")
        stage.clock.advance(days=30)
        await stage.press.maintenance.prune()
        for _ in range(2):
            await collect_garbage(stage.press.rendering.blobs, stage.press.rendering.database, grace=0)

        assert (count(stage, "artifact"), count(stage, "artifact_hold")) == (4, 4)
        assert await fsck(stage.press.rendering.blobs, stage.press.rendering.database) == []
        assert (await stage.http.get("/a/arch.svg")).text == "<svg>text 5|svg|light</svg>"


async def test_the_latest_good_one_stays_however_many_fail_after_it(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"max_versions": 2}) as stage:
        await put(stage, "good")
        for number in range(6):
            await put(stage, f"broken {number}")

        assert await numbers(stage) == [7, 6, 1]
        assert (await stage.http.get("/a/arch.svg")).text == "<svg>good|svg|light</svg>"


async def test_a_version_whose_job_has_not_ended_stays(staged: Staging, easel: Easel, eventually: Callable[..., Any]) -> None:
    easel.hold()
    async with staged(diagrams={"max_versions": 1}) as stage:
        await put(stage, "one", query="")
        await eventually(lambda: easel.sources == ["one"])
        await put(stage, "two", query="")

        assert await numbers(stage) == [2, 1]
        easel.release()
        await put(stage, "two")
        await put(stage, "three")
        assert await numbers(stage) == [3, 2]  # the second was the good one when the third came
        assert (await stage.http.get("/a/arch.svg")).text == "<svg>three|svg|light</svg>"


async def test_a_bound_that_comes_late_is_reached_some_at_a_time(staged: Staging, easel: Easel, monkeypatch: Any) -> None:
    monkeypatch.setattr("pressroom.apps.diagrams.named.versions.PRUNED_AT_ONCE", 4)
    async with staged() as stage:
        for number in range(10):
            await put(stage, f"text {number}")
    async with staged(diagrams={"max_versions": 2}) as stage:
        lengths = []
        for number in range(10, 14):
            await put(stage, f"text {number}")
            lengths.append(len(await numbers(stage)))

        assert lengths == [7, 4, 2, 2]
