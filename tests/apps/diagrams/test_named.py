"""Named diagrams: every text is a version, and what is shown is the latest good picture."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx

from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.artifact_lifecycle.fsck import fsck
from tests import looking
from tests.apps.diagrams.conftest import Easel, Stage, Staging


def text(source: str, **more: Any) -> dict[str, Any]:
    return {"source": source, "format": "dot"} | more


async def put(stage: Stage, source: str, *, name: str = "arch", query: str = "?mode=sync", **more: Any) -> httpx.Response:
    return await stage.http.put(f"/diagrams/{name}{query}", json=text(source, **more))


async def test_a_text_becomes_version_1_and_is_shown_under_its_name(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await put(stage, "a")
        shown = await stage.http.get("/a/arch.svg")

        told = answer.json()
        assert answer.status_code == 200
        assert (told["version"], told["status"], told["good"], told["url"]) == (1, "completed", 1, "/a/arch.svg")
        assert (shown.status_code, shown.text) == (200, "<svg>a|svg|light</svg>")
        assert shown.headers["cache-control"] == "no-cache, must-revalidate"
        assert shown.headers["content-location"] == "/a/arch@1.svg"
        assert shown.headers["content-disposition"] == 'inline; filename="arch.svg"'


async def test_a_new_version_takes_over_and_the_old_one_keeps_its_number(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "a")
        tag = (await stage.http.get("/a/arch.svg")).headers["etag"]
        assert (await stage.http.get("/a/arch.svg", headers={"If-None-Match": tag})).status_code == 304

        await put(stage, "b")

        changed = await stage.http.get("/a/arch.svg", headers={"If-None-Match": tag})
        old, new = await stage.http.get("/a/arch@1.svg"), await stage.http.get("/a/arch@2.svg")
        assert (changed.status_code, changed.text) == (200, "<svg>b|svg|light</svg>")
        assert (old.text, new.text) == ("<svg>a|svg|light</svg>", "<svg>b|svg|light</svg>")
        assert old.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert (await stage.http.get("/a/arch@3.svg")).status_code == 404


async def test_the_last_good_one_stays_while_a_new_one_renders(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "a")
        easel.hold()
        answer = await put(stage, "b", query="")

        shown = await stage.http.get("/a/arch.svg")
        easel.release()

        assert (answer.status_code, answer.json()["status"], answer.json()["good"]) == (202, "pending", 1)
        assert (shown.status_code, shown.text) == (200, "<svg>a|svg|light</svg>")
        assert shown.headers["cache-status"] == 'pressroom; hit; detail="version 2 is pending"'


async def test_the_last_good_one_stays_when_a_new_one_fails(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "a")
        answer = await put(stage, "broken")

        shown = await stage.http.get("/a/arch.svg")
        told = (await stage.http.get("/diagrams/arch")).json()

        assert (answer.status_code, answer.json()["line"]) == (400, 3)
        assert (shown.status_code, shown.text) == (200, "<svg>a|svg|light</svg>")
        assert (told["version"], told["status"], told["good"], told["source"]) == (2, "failed", 1, "broken")
        failed, good = told["versions"]
        assert (failed["error"], failed["line"], failed["column"]) == ("an arrow needs two ends", 3, 7)
        assert (good["number"], good["status"]) == (1, "completed")


async def test_before_the_first_picture_there_is_a_placeholder_that_nobody_keeps(staged: Staging, easel: Easel) -> None:
    easel.hold()
    async with staged() as stage:
        await put(stage, "a", query="")
        shown = await stage.http.get("/a/arch.svg")
        easel.release()

        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/svg+xml")
        assert shown.headers["cache-control"] == "no-store"
        assert "is being rendered" in shown.text


async def test_a_first_version_that_fails_is_a_picture_of_what_is_wrong(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "broken")
        picture = await stage.http.get("/a/arch.svg")
        problem = await stage.http.get("/a/arch.svg", headers={"Accept": "application/json"})

        assert (picture.status_code, picture.headers["content-type"]) == (422, "image/svg+xml")
        assert picture.headers["cache-control"] == "no-store"
        assert "line 3, column 7" in picture.text
        assert (problem.status_code, problem.json()["code"], problem.json()["line"]) == (422, "source_invalid", 3)


async def test_the_same_text_again_is_the_same_version(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "a")
        again = await put(stage, "a", query="")
        other = await put(stage, "a", options={"layout": "neato"})
        back = await put(stage, "a")

        assert (again.status_code, again.json()["version"]) == (200, 1)
        assert (other.json()["version"], back.json()["version"]) == (2, 3)


async def test_a_text_that_failed_may_be_put_again(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "broken")
        await put(stage, "broken")

        assert (await stage.http.get("/diagrams/arch")).json()["version"] == 2


async def test_of_several_texts_that_wait_the_newest_is_rendered_next_and_then_the_others(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged(workers=1) as stage:
        await put(stage, "one", query="")
        await eventually(lambda: easel.sources == ["one"])
        jobs = [(await put(stage, source, query="")).json()["versions"][0]["jobId"] for source in ("two", "three", "four")]
        told = (await stage.http.get("/diagrams/arch")).json()
        shown = [version["jobId"] for version in reversed(told["versions"])][1:]
        easel.release()
        await put(stage, "four")
        await eventually(lambda: len(easel.sources) == 4)
        await eventually(partial(all_completed, stage))

        assert easel.sources == ["one", "four", "two", "three"]
        assert jobs[0] == jobs[1] == jobs[2] == shown[2], "the job that is next has the newest text"
        assert len({*shown}) == 3, "and those whose text it had before have others"
        assert (await stage.http.get("/a/arch.svg")).text == "<svg>four|svg|light</svg>"
        assert (await stage.http.get("/a/arch@2.svg")).text == "<svg>two|svg|light</svg>"


async def all_completed(stage: Stage) -> bool:
    told = (await stage.http.get("/diagrams/arch")).json()
    return {version["status"] for version in told["versions"]} == {"completed"}


async def test_a_valid_text_is_drawn_although_an_invalid_one_followed_at_once(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged(workers=1) as stage:
        await put(stage, "one", query="")
        await eventually(lambda: easel.sources == ["one"])
        await put(stage, "two", query="")
        await put(stage, "broken", query="")
        easel.release()
        await eventually(lambda: len(easel.sources) == 3)

        async def is_good() -> bool:
            return bool((await stage.http.get("/diagrams/arch")).json()["good"] == 2)

        await eventually(is_good)
        assert (await stage.http.get("/a/arch.svg")).text == "<svg>two|svg|light</svg>"


async def test_asking_for_an_old_version_does_not_put_it_in_the_place_of_a_new_one_that_waits(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    """Both had the key of the name once, and the old text coalesced into the job of the new one."""
    easel.hold()
    async with staged(workers=1) as stage:
        await put(stage, "one", query="")
        await eventually(lambda: easel.sources == ["one"])
        await put(stage, "two", query="")
        await put(stage, "three", query="")
        before = await stage.http.get("/a/arch@2.svg")
        assert await has_jobs(stage, 3)
        easel.release()

        assert (await put(stage, "three")).json()["good"] == 3
        await eventually(partial(all_completed, stage))
        assert "is being rendered" in before.text
        assert (await stage.http.get("/a/arch@2.svg")).text == "<svg>two|svg|light</svg>"
        assert (await stage.http.get("/a/arch.svg")).text == "<svg>three|svg|light</svg>"


async def has_jobs(stage: Stage, number: int) -> bool:
    return len((await stage.press.list()).jobs) == number


async def test_other_outputs_and_themes_are_made_when_they_are_first_asked_for(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "a", options={"theme": "auto"})

        png, pdf = await stage.http.get("/a/arch.png"), await stage.http.get("/a/arch.pdf")
        dark, own = await stage.http.get("/a/arch.svg?theme=dark"), await stage.http.get("/a/arch.svg?theme=auto")
        again = await stage.http.get("/a/arch.png")

        assert (png.headers["content-type"], pdf.headers["content-type"]) == ("image/png", "application/pdf")
        assert (dark.text, own.text) == ("<svg>a|svg|dark</svg>", "<svg>a|svg|auto</svg>")
        assert dark.headers["content-location"] == "/a/arch@1.svg?theme=dark"
        assert again.content == png.content
        assert len(easel.drew) == 4  # svg auto, png, pdf, svg dark
        assert (await stage.http.get("/a/arch.svg?theme=pink")).status_code == 400


async def test_many_who_ask_for_a_picture_that_is_missing_make_one_render(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "a")
        answers = await asyncio.gather(*[stage.http.get("/a/arch.png") for _ in range(30)])

        assert {answer.status_code for answer in answers} == {200}
        assert len(easel.drew) == 2


async def test_an_engine_without_themes_shows_its_one_picture_for_all(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await stage.http.put("/diagrams/logo?mode=sync", json={"source": "<svg/>", "format": "svg"})

        assert (await stage.http.get("/a/logo.svg?theme=dark")).text == "<svg><svg/>|svg|</svg>"
        assert len(easel.drew) == 1


async def test_the_collector_keeps_what_a_name_shows_and_takes_it_when_the_name_is_gone(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for source in ("a", "b"):
            await put(stage, source)
        await stage.http.get("/a/arch.png")
        await tidy(stage)

        assert (await stage.http.get("/a/arch@1.svg")).text == "<svg>a|svg|light</svg>"
        assert (await stage.http.get("/a/arch.png")).status_code == 200
        assert await fsck(stage.press.rendering.blobs, stage.press.rendering.database) == []

        assert (await stage.http.delete("/diagrams/arch")).status_code == 204
        await tidy(stage)
        assert (await stage.http.get("/a/arch.svg")).status_code == 404
        assert count(stage, "artifact") == 0


async def tidy(stage: Stage) -> None:
    """A month later, with jobs pruned and the collector having come twice."""
    stage.clock.advance(days=30)
    await stage.press.maintenance.prune()
    for _ in range(2):
        await collect_garbage(stage.press.rendering.blobs, stage.press.rendering.database, grace=0)


def count(stage: Stage, table: str) -> int:
    return int(looking.rows(stage.press.settings.database, f"SELECT count(*) FROM {table}")[0][0])


# X6
async def test_the_version_is_settled_in_the_transaction_that_ends_its_job(staged: Staging, easel: Easel) -> None:
    """Once the job has ended, every process sees the version settled and the picture there."""
    async with staged() as stage:
        for number in range(1, 6):
            answer = await put(stage, f"text {number}", query="")
            job = answer.json()["versions"][0]["jobId"]
            await stage.press.wait_until_ended(job, timeout=60)

            told = (await stage.http.get("/diagrams/arch")).json()
            assert (told["good"], told["status"]) == (number, "completed")


async def test_a_cancelled_job_leaves_its_version_failed_and_the_picture_alone(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    async with staged() as stage:
        await put(stage, "a")
        easel.hold()
        job = (await put(stage, "b", query="")).json()["versions"][0]["jobId"]
        await stage.http.post(f"/jobs/{job}/cancel")
        await stage.press.wait_until_ended(job, timeout=60)

        told = (await stage.http.get("/diagrams/arch")).json()
        assert (told["status"], told["good"]) == ("failed", 1)
        assert "cancelled" in told["versions"][0]["error"]


async def test_a_failed_version_whose_job_is_retried_becomes_good(staged: Staging, easel: Easel, monkeypatch: Any) -> None:
    async with staged() as stage:
        await put(stage, "broken")
        monkeypatch.setattr("tests.apps.diagrams.conftest._drawn", lambda asked: _fine(asked))
        told = (await stage.http.get("/diagrams/arch")).json()
        retried = await stage.http.post(f"/jobs/{told['versions'][0]['jobId']}/retry")
        await stage.press.wait_until_ended(retried.json()["id"], timeout=60)

        assert (await stage.http.get("/diagrams/arch")).json()["good"] == 1
        assert (await stage.http.get("/a/arch.svg")).text == "<svg>mended</svg>"


def _fine(asked: Any) -> Any:
    from pressroom.renderers import Rendered

    return Rendered(b"<svg>mended</svg>", "image/svg+xml")


async def test_names_are_listed_in_order_and_in_pages(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for name in ("delta", "alpha", "Charlie", "bravo-2"):
            await put(stage, "a", name=name, query="")

        first = await stage.http.get("/diagrams?limit=3")
        rest = await stage.http.get("/diagrams", params={"limit": 3, "cursor": first.json()["next_cursor"]})

        assert [one["name"] for one in first.json()["items"]] == ["Charlie", "alpha", "bravo-2"]
        assert first.headers["link"] == '</diagrams?limit=3&cursor=bravo-2>; rel="next"'
        assert [one["name"] for one in rest.json()["items"]] == ["delta"]
        assert rest.json()["next_cursor"] is None


async def test_a_name_or_a_text_that_cannot_be_is_refused(staged: Staging, easel: Easel) -> None:
    async with staged(workers=None) as stage:
        for name in ("-x", "a.b", "a@1", "a b", "é", "x" * 101):
            answer = await stage.http.put(f"/diagrams/{name}", json=text("a"))
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_name"), name
        wrong: list[dict[str, Any]] = [
            {"source": "a"},
            text(""),
            text("a", format="cobol"),
            text("# a", format="markdown"),
            text("a", options={"colour": "red"}),
            text("a", outputType="svg"),
        ]
        for body in wrong:
            assert (await stage.http.put("/diagrams/x", json=body)).status_code == 400, body
        assert (await stage.http.put("/diagrams/x", json=text("x" * 600_000))).status_code == 413
        assert (await stage.http.put("/diagrams/x?format=dot", content="digraph {}")).status_code == 415
        assert (await stage.http.get("/diagrams")).json()["items"] == []
        assert (await stage.http.get("/diagrams/x")).status_code == 404


async def test_if_the_job_cannot_be_queued_there_is_no_version_either(staged: Staging, easel: Easel) -> None:
    async with staged(workers=None, max_queued=1) as stage:
        await put(stage, "a", query="")
        full = await put(stage, "b", name="other", query="")

        assert (full.status_code, full.json()["code"]) == (503, "queue_full")
        assert (await stage.http.get("/diagrams/other")).status_code == 404


async def test_a_version_that_was_rendered_stays_so_whatever_becomes_of_a_retry(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await put(stage, "a")
        (job,) = (await stage.press.list(kind="diagram")).jobs
        await stage.press.pause("diagram")
        await stage.press.cancel(await stage.press.retry(job.uid))
        told = (await stage.http.get("/diagrams/arch")).json()

    assert (told["version"], told["status"], told["good"]) == (1, "completed", 1)
