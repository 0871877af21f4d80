"""The input cache of design 003, and what the shipped versions of it got wrong (I1 to I5, I13, D8 to D10, X13)."""

import asyncio
import itertools

from tests import looking
from tests.apps.diagrams.conftest import Easel, Stage, Staging, ended

ARROW = {"source": "digraph { a -> b }", "format": "dot", "outputType": "svg"}


# I1, I3, I13
async def test_duplicate_input_returns_the_existing_shortlink_without_re_rendering(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        first = await stage.http.post("/render?mode=sync", json=ARROW)
        again = await stage.http.post("/render?mode=sync", json=ARROW)

        assert again.json()["shortlink"] == first.json()["shortlink"]
        assert len(easel.drew) == 1
        assert again.headers["cache-status"] == "pressroom; hit; ttl=300"
        assert again.json()["cache"] == {"hit": True, "reason": "rendered from the same input 0 s ago", "differs": None}


# D8, I4
async def test_the_async_path_fills_the_input_cache_too(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        told = await ended(stage, await stage.http.post("/render", json=ARROW))

        sync = await stage.http.post("/render?mode=sync", json=ARROW)
        later = await stage.http.post("/render", json=ARROW)

        assert sync.json()["shortlink"] == later.json()["shortlink"] == told["shortlink"]
        assert len(easel.drew) == 1


# D9
async def test_a_hundred_identical_submits_make_one_render_and_a_hundred_answers(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        easel.hold()
        jobs = await asyncio.gather(*[stage.http.post("/render", json=ARROW) for _ in range(100)])
        assert {answer.status_code for answer in jobs} == {202}
        assert len({answer.json()["jobId"] for answer in jobs}) == 1
        assert {answer.headers["cache-status"] for answer in jobs} == {"pressroom; fwd=miss", "pressroom; fwd=miss; collapsed"}

        waiting = [asyncio.create_task(stage.http.post("/render?mode=sync", json=ARROW)) for _ in range(100)]
        await asyncio.sleep(0.05)
        easel.release()
        pictures = await asyncio.gather(*waiting)

        assert {answer.status_code for answer in pictures} == {200}
        assert len({answer.json()["shortlink"] for answer in pictures}) == 1
        assert len(easel.drew) == 1


# D9
async def test_a_hundred_who_wait_for_a_new_input_take_one_place(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"max_concurrent": 1, "max_waiting": 0}) as stage:
        pictures = await asyncio.gather(*[stage.http.post("/render?mode=sync", json=ARROW) for _ in range(100)])

        assert {answer.status_code for answer in pictures} == {200}
        assert len(easel.drew) == 1


# D10
async def test_sources_that_differ_only_in_white_space_are_different_inputs(staged: Staging, easel: Easel) -> None:
    sources = ["mindmap\n  a\n    b", "mindmap\n  a\n  b", "mindmap\n  a\n    b\n", "mindmap\r\n  a\r\n    b"]
    async with staged() as stage:
        links = [
            (await stage.http.post("/render?format=mermaid&mode=sync", content=source)).json()["shortlink"]
            for source in sources
        ]

        assert len(set(links)) == 4
        assert easel.sources == sources


# D10
async def test_no_part_of_an_input_can_run_into_the_next(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        plain = await stage.http.post("/render?mode=sync", json={"source": "a", "format": "dot", "outputType": "svg"})
        tricky = await stage.http.post("/render?mode=sync", json={"source": "a|dot", "format": "dot", "outputType": "svg"})

        assert tricky.json()["cached"] is False
        assert plain.json()["shortlink"] != tricky.json()["shortlink"]


async def test_a_miss_says_which_input_differed(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        first = await stage.http.post("/render?mode=sync", json=ARROW)
        source = await stage.http.post("/render?mode=sync", json=ARROW | {"source": "digraph {}"})
        output = await stage.http.post("/render", json=ARROW | {"outputType": "png"})
        options = await stage.http.post("/render", json=ARROW | {"options": {"theme": "dark"}})

        assert first.json()["cache"]["differs"] is None
        assert source.headers["cache-status"] == 'pressroom; fwd=miss; detail="source"'
        assert source.json()["cache"] == {
            "hit": False,
            "reason": "the nearest input differs in: source",
            "differs": ["source"],
        }
        assert output.json()["cache"]["differs"] == ["output"]
        assert options.json()["cache"]["differs"] == ["options"]


async def test_an_option_that_is_said_aloud_but_is_the_default_is_the_same_input(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        await stage.http.post("/render?mode=sync", json=ARROW)
        aloud = await stage.http.post("/render?mode=sync&layout=dot", json=ARROW | {"format": "graphviz"})

        assert aloud.json()["cached"] is True


# I2
async def test_input_cache_and_output_cache_expire_together(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        first = await stage.http.post("/render?mode=sync", json=ARROW)
        stage.clock.advance(seconds=301)

        assert (await stage.http.get(first.json()["url"])).status_code == 404
        again = await stage.http.post("/render?mode=sync", json=ARROW)

        assert again.json()["cached"] is False
        assert again.json()["shortlink"] != first.json()["shortlink"]
        assert (await stage.http.get(again.json()["url"])).status_code == 200


# I2, X13
async def test_a_hit_with_less_than_a_minute_left_is_renewed_with_its_link_and_its_artifact(
    staged: Staging, easel: Easel
) -> None:
    async with staged() as stage:
        first = await stage.http.post("/render?mode=sync", json=ARROW)
        stage.clock.advance(seconds=230)
        early = await stage.http.post("/render", json=ARROW)
        stage.clock.advance(seconds=20)
        late = await stage.http.post("/render", json=ARROW)
        stage.clock.advance(seconds=200)

        assert early.headers["cache-status"] == "pressroom; hit; ttl=70"
        assert late.headers["cache-status"] == "pressroom; hit; ttl=300"
        assert late.json()["expiresAt"] == "2027-01-15T08:09:10Z"
        assert (await stage.http.get(first.json()["url"])).status_code == 200
        ((of_input, of_output),) = expiries(stage)
        assert of_input == of_output
        assert len(easel.drew) == 1


def expiries(stage: Stage) -> list[tuple[int, int]]:
    """Of each cache entry and of the artifact beside it."""
    question = "SELECT c.expires_at, a.expires_at FROM render_cache AS c JOIN artifact AS a ON a.uid = c.artifact"
    return looking.rows(stage.press.settings.database, question)


async def test_what_is_used_again_and_again_outlives_the_retention_of_its_job(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        first = await stage.http.post("/render?mode=sync", json=ARROW)
        for _ in range(20):
            stage.clock.advance(seconds=250)
            assert (await stage.http.post("/render", json=ARROW)).json()["cached"] is True
            await stage.press.maintenance.prune()

        assert (await stage.http.get(first.json()["url"])).status_code == 200
        assert (await stage.http.get(first.json()["statusUrl"])).status_code == 200
        assert len(easel.drew) == 1


async def test_a_failure_is_not_cached(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        for _ in range(2):
            answer = await stage.http.post("/render?mode=sync", json=ARROW | {"source": "broken"})
            assert answer.status_code == 400
        assert len(easel.drew) == 2


# X28
async def test_what_is_kept_are_bytes_and_no_base64(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        answer = await stage.http.post("/render?mode=sync", json=ARROW)
        artifact = await stage.press.artifact(answer.json()["shortlink"])
        kept = [chunk async for chunk in await stage.press.read(artifact)]

        assert b"".join(itertools.chain(kept)) == b"<svg>digraph { a -> b }|svg|</svg>"
