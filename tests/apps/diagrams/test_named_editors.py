"""Two editors of one diagram do not undo each other's work: a text may say which one it is meant to follow."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.apps.diagrams.conftest import Easel, Stage, Staging


async def put(stage: Stage, source: str, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await stage.http.put("/diagrams/arch?mode=sync", json={"source": source, "format": "dot"}, headers=named)


async def newest(stage: Stage) -> dict[str, Any]:
    told: dict[str, Any] = (await stage.http.get("/diagrams/arch")).json()
    return told


async def test_a_text_that_follows_what_its_editor_saw_is_taken_and_a_late_one_is_refused(
    staged: Staging, easel: Easel
) -> None:
    async with staged() as stage:
        await put(stage, "a")
        seen = (await stage.http.get("/diagrams/arch")).headers["etag"]

        ours = await put(stage, "ours", If_Match=seen)
        theirs = await put(stage, "theirs", If_Match=seen)
        on_top = await put(stage, "theirs, on top", If_Match=ours.headers["etag"])

        assert (ours.status_code, ours.json()["version"]) == (200, 2)
        assert (theirs.status_code, theirs.json()["code"]) == (412, "precondition_failed")
        assert "it is at version 2 by now" in theirs.json()["detail"]
        assert (on_top.status_code, on_top.json()["version"]) == (200, 3)
        assert (await newest(stage))["source"] == "theirs, on top"


async def test_of_many_who_saw_the_same_one_is_taken(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        seen = (await put(stage, "a")).headers["etag"]
        answers = await asyncio.gather(*[put(stage, f"text {number}", If_Match=seen) for number in range(20)])

        assert sorted(answer.status_code for answer in answers) == [200, *[412] * 19]
        assert (await newest(stage))["version"] == 2


async def test_that_the_last_text_was_rendered_meanwhile_refuses_nobody(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        easel.hold()
        pending = await stage.http.put("/diagrams/arch", json={"source": "a", "format": "dot"})
        easel.release()
        await stage.press.wait_until_ended(pending.json()["versions"][0]["jobId"], timeout=60)
        settled = await stage.http.get("/diagrams/arch", headers={"If-None-Match": pending.headers["etag"]})

        assert settled.status_code == 200  # for who asks whether anything is new, something is
        assert (await put(stage, "b", If_Match=pending.headers["etag"])).status_code == 200


async def test_whoever_repeats_what_succeeded_is_not_refused_for_it(staged: Staging, easel: Easel) -> None:
    """The answer was lost, and the tag that was sent is not the newest any more: by this very text."""
    async with staged() as stage:
        seen = (await put(stage, "a")).headers["etag"]
        await put(stage, "b", If_Match=seen)
        again = await put(stage, "b", If_Match=seen)

        assert (again.status_code, again.json()["version"]) == (200, 2)


async def test_create_only_creates_only(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        created = await put(stage, "a", If_None_Match="*")
        again = await put(stage, "b", If_None_Match="*")

        assert (created.status_code, created.json()["version"]) == (200, 1)
        assert (again.status_code, again.json()["detail"]) == (412, "arch is there already, at version 1")
        assert easel.sources == ["a"]


async def test_a_text_that_must_not_follow_one_state_is_refused_there_and_taken_elsewhere(
    staged: Staging, easel: Easel
) -> None:
    async with staged() as stage:
        first = (await put(stage, "a")).headers["etag"]
        refused = await put(stage, "b", If_None_Match=f'"0123456789abcdef.0", {first}')
        await put(stage, "c")
        taken = await put(stage, "d", If_None_Match=first)

        assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
        assert (taken.status_code, taken.json()["version"]) == (200, 3)
        assert easel.sources == ["a", "c", "d"]


async def test_change_only_creates_nothing(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for tag in ("*", '"0123456789abcdef.0"', "nonsense"):
            assert (await put(stage, "a", If_Match=tag)).status_code == 412, tag

        assert (await stage.http.get("/diagrams/arch")).status_code == 404
        assert easel.drew == []
        await put(stage, "a")
        assert (await put(stage, "b", If_Match="*")).status_code == 200


@pytest.mark.parametrize("spelt", ["{}", "W/{}", '"other", {}', "  {}  "])
async def test_a_tag_is_known_though_a_proxy_made_it_weak_or_others_stand_beside_it(
    staged: Staging, easel: Easel, spelt: str
) -> None:
    async with staged() as stage:
        tag = (await put(stage, "a")).headers["etag"]

        assert (await put(stage, "b", If_Match=spelt.format(tag))).status_code == 200


async def test_a_diagram_that_was_deleted_and_made_anew_is_another(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        seen = (await put(stage, "a")).headers["etag"]
        await stage.http.delete("/diagrams/arch")
        await put(stage, "somebody else's")

        assert (await put(stage, "b", If_Match=seen)).status_code == 412


async def test_only_what_was_seen_is_deleted(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        seen = (await put(stage, "a")).headers["etag"]
        now = (await put(stage, "b")).headers["etag"]

        assert (await stage.http.delete("/diagrams/arch", headers={"If-Match": seen})).status_code == 412
        assert (await stage.http.delete("/diagrams/arch", headers={"If-Match": now})).status_code == 204
        assert (await stage.http.get("/diagrams/arch")).status_code == 404


async def test_an_unchanged_diagram_is_a_304(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        tag = (await put(stage, "a")).headers["etag"]
        same = await stage.http.get("/diagrams/arch", headers={"If-None-Match": tag})

        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
