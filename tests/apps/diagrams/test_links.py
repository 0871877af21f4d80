"""`GET /d/{shortlink}`: the bytes, for every caller with the link."""

import httpx

from tests.apps.diagrams.conftest import Easel, Stage, Staging, ended

ARROW = {"source": "digraph { a -> b }", "format": "dot"}
PICTURE = "<svg>digraph { a -> b }|svg|</svg>"


async def rendered(stage: Stage) -> str:
    answer = await stage.http.post("/render?mode=sync", json=ARROW)
    url: str = answer.json()["url"]
    return url


async def test_the_bytes_come_with_a_strong_tag_and_may_do_nothing_in_a_browser(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.get(await rendered(stage))

        assert answer.text == PICTURE
        assert answer.headers["content-type"] == "image/svg+xml"
        assert answer.headers["etag"].startswith('"sha256-')
        assert answer.headers["cache-control"] == "public, max-age=300"
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_who_has_it_is_told_so(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        url = await rendered(stage)
        tag = (await stage.http.get(url)).headers["etag"]

        again = await stage.http.get(url, headers={"If-None-Match": tag})

        assert (again.status_code, again.content) == (304, b"")


async def test_head_and_ranges_work(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        url = await rendered(stage)

        head = await stage.http.head(url)
        some = await stage.http.get(url, headers={"Range": "bytes=1-3"})
        none = await stage.http.get(url, headers={"Range": "bytes=9999-"})

        assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(PICTURE)))
        assert (some.status_code, some.text) == (206, "svg")
        assert some.headers["content-range"] == f"bytes 1-3/{len(PICTURE)}"
        assert none.status_code == 416


# X13
async def test_a_link_that_was_there_is_a_404_with_the_code_expired(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        url = await rendered(stage)
        stage.clock.advance(seconds=301)

        gone = await stage.http.get(url)
        never = await stage.http.get("/d/0000000000000")

        assert (gone.status_code, gone.json()["code"]) == (404, "expired")
        assert (never.status_code, never.json()["code"]) == (404, "not_found")


async def test_others_keep_the_picture_no_longer_than_the_link_lives(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        url = await rendered(stage)
        stage.clock.advance(seconds=200)

        assert (await stage.http.get(url)).headers["cache-control"] == "public, max-age=100"


async def test_whatever_is_no_link_is_a_404(staged: Staging, easel: Easel) -> None:
    async with staged(workers=None) as stage:
        for name in ("x", "%00", "..%2f..", "é", "0" * 200):
            assert (await stage.http.get(f"/d/{name}")).status_code == 404


async def test_an_artifact_is_not_found_by_its_uid_here(staged: Staging, easel: Easel) -> None:
    """A uid is no secret: it is shown with its job. A link is one."""
    async with staged() as stage, stage.client("red") as red:
        job = await red.post("/render?mode=sync", json=ARROW)
        uid = (await stage.press.get(job.json()["jobId"])).result["artifact"]

        assert (await stage.http.get(f"/d/{uid}")).status_code == 404


# D13
async def test_after_a_restart_a_completed_job_still_has_its_picture(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await ended(stage, await stage.http.post("/render", json=ARROW))

    async with staged() as stage:
        assert (await stage.http.get(told["statusUrl"])).json()["status"] == "completed"
        answer: httpx.Response = await stage.http.get(told["url"])
        assert answer.text == PICTURE


# D13, X13
async def test_a_completed_job_says_until_when_its_link_is_good(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"cache_ttl": 120.0}) as stage:
        told = await ended(stage, await stage.http.post("/render", json=ARROW))

        assert (told["completedAt"], told["expiresAt"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:02:00Z")
