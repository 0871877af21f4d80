"""Faults upon real servers and workers: the judge finds nothing. It does find what was broken on purpose."""

import asyncio
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from pressroom.failpoints import HTTP_POINTS, POINTS
from tests.depth import by_depth
from tests.reliability import http_naive, http_nemesis, journal, nemesis
from tests.reliability.http_stage import HttpStage, killed
from tests.reliability.http_wants import Want, diagram, note, render
from tests.reliability.run_lab import run_lab
from tests.reliability.stage import until

SEED = 20261116
NONCE = "0123456789abcdef"
DOORS = pytest.mark.parametrize("want", [render(NONCE), diagram(NONCE)], ids=["/jobs", "/render"])
KEYED = pytest.mark.parametrize("want", [note(NONCE), diagram(NONCE, manner="keyed")], ids=["/jobs", "/render"])
SUBMIT = {"submit.validated", "submit.before_commit", "submit.after_commit"}
PUBLISH = {"blob.temp_written", "blob.renamed"}
SETTLE = {"turn.before_commit", "turn.after_commit"}


def test_faults_upon_servers_and_workers_lose_nothing_and_tear_nothing() -> None:
    # I1, I3, I4, I6, I22
    figures = run_lab("tests.reliability.http_crashlab", by_depth(5, 300), SEED)

    for offence in ("lost", "stuck", "torn", "unlike", "gone", "duplicated", "rekeyed"):
        assert int(figures[offence]) == 0
    for figure in ("recovered", "saved", "replayed", "waited", "links"):
        assert int(figures[figure]) >= by_depth(0, 1), figure  # a short run need not meet each of them


@pytest.mark.parametrize("role", http_nemesis.FATES)
def test_a_seed_gives_the_same_faults_again(role: str) -> None:
    def fate(seed: int) -> list[nemesis.Fault]:
        return list(islice(nemesis.faults(seed, role, 0, http_nemesis.FATES[role]), 100))

    assert fate(7) == fate(7)
    assert fate(7) != fate(8)


def test_the_nemesis_knows_every_failpoint_of_the_service() -> None:
    assert HTTP_POINTS | SUBMIT | PUBLISH | SETTLE <= http_nemesis.POINTS <= POINTS


@pytest.mark.sampled(6)
@KEYED
@pytest.mark.parametrize("point", ["submit.before_commit", "submit.after_commit", "reply.before_send"])
async def test_whoever_was_answered_has_a_job_and_whoever_was_not_may_ask_again(tmp_path: Path, point: str, want: Want) -> None:
    stage = HttpStage(tmp_path)
    port, other = stage.ports
    with stage.server(port, failpoints=f"{point}=kill") as server:
        await stage.listens(port)

        assert await stage.submit(port, want) is None

        assert await killed(server)
    with stage.server(other):
        await stage.listens(other)
        first, again = await stage.submit(other, want), await stage.submit(other, want)

    verdict = await stage.judge()
    assert first is not None
    assert first == again
    assert verdict.clean, verdict


async def _submit_and_die(stage: HttpStage, naive: Callable[[], None] | None, point: str, want: Want) -> str | None:
    port = stage.ports[0]
    with stage.server(port, failpoints=f"{point}=kill", naive=naive) as server:
        await stage.listens(port)
        uid = await stage.submit(port, want)
        assert await killed(server)
    return uid


@pytest.mark.deep  # it tries the judge
@pytest.mark.sampled(2)
@DOORS
async def test_a_server_that_answers_before_the_commit_loses_what_it_acknowledged(tmp_path: Path, want: Want) -> None:
    # I1; the server above, at the same failpoint, answers nobody
    stage = HttpStage(tmp_path)

    uid = await _submit_and_die(stage, http_naive.answer_before_the_commit, "submit.before_commit", want)

    assert uid is not None
    assert (await stage.judge()).lost == [uid]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("point", sorted(PUBLISH | SETTLE))
async def test_a_worker_that_dies_while_it_publishes_leaves_a_whole_artifact_to_the_next(tmp_path: Path, point: str) -> None:
    # I6
    stage = HttpStage(tmp_path)

    uid = await _submit_and_die(stage, None, point, diagram(NONCE))

    verdict = await stage.judge()
    assert verdict.clean, verdict
    assert uid is None or verdict.artifacts == verdict.links == 1


@pytest.mark.deep  # it tries the judge
async def test_an_artifact_that_is_written_in_place_is_torn(tmp_path: Path) -> None:
    # I6
    stage = HttpStage(tmp_path)

    uid = await _submit_and_die(stage, http_naive.write_in_place, "blob.temp_written", diagram(NONCE))

    assert uid is not None
    assert (await stage.judge(http_naive.write_in_place)).torn == [uid]


@pytest.mark.deep  # it tries the judge
async def test_a_job_that_ends_before_its_bytes_are_there_promises_a_picture_that_nobody_can_see(tmp_path: Path) -> None:
    # I7
    stage = HttpStage(tmp_path)

    uid = await _submit_and_die(stage, http_naive.settle_before_the_bytes, "blob.temp_written", diagram(NONCE))

    verdict = await stage.judge()
    assert uid is not None
    assert verdict.unserved == [uid]
    assert len(verdict.gone) == 1


async def test_whoever_waits_for_a_picture_is_told_when_the_server_stops(tmp_path: Path) -> None:
    stage = HttpStage(tmp_path)
    port = stage.ports[0]
    with stage.server(port, "--no-workers") as server:
        await stage.listens(port)
        waiting = asyncio.create_task(stage.submit(port, diagram(NONCE, manner="sync")))
        await until(lambda: stage.has_a_job(port))

        server.terminate()

        assert await waiting is None
    refusals = [line.data for line in journal.load(stage.journal.path) if line.type == "fail"]
    assert [(told["http"], told["code"]) for told in refusals] == [(503, "queue_closed")]


async def _served_and_restarted(stage: HttpStage, naive: Callable[[], None], *wants: Want) -> list[str | None]:
    """All of them are answered by one server that ends; the judge asks another."""
    port = stage.ports[0]
    with stage.server(port, naive=naive):
        await stage.listens(port)
        return [await stage.submit(port, want) for want in wants]


@pytest.mark.deep  # it tries the judge
async def test_a_picture_without_its_end_is_not_what_a_clean_press_makes(tmp_path: Path) -> None:
    stage = HttpStage(tmp_path)

    (uid,) = await _served_and_restarted(stage, http_naive.keep_what_came_so_far, diagram(NONCE, manner="sync"))

    verdict = await stage.judge()
    assert verdict.unlike == [uid]
    assert not verdict.torn


@pytest.mark.deep  # it tries the judge
async def test_a_link_that_only_its_server_knew_is_gone_with_it(tmp_path: Path) -> None:
    stage = HttpStage(tmp_path)

    (uid,) = await _served_and_restarted(stage, http_naive.remember_links_in_memory, diagram(NONCE, manner="sync"))

    verdict = await stage.judge()
    assert uid is not None
    assert len(verdict.gone) == 1
    assert not verdict.lost


@pytest.mark.deep  # it tries the judge
async def test_without_the_idempotency_key_a_client_that_asks_again_gets_a_second_job(tmp_path: Path) -> None:
    stage = HttpStage(tmp_path)

    await _served_and_restarted(stage, http_naive.forget_the_key, note(NONCE), note(NONCE))

    verdict = await stage.judge()
    assert verdict.duplicated == [NONCE]
    assert verdict.rekeyed == [NONCE]


@pytest.mark.deep  # it tries the judge
async def test_without_key_and_fingerprint_the_same_source_is_rendered_twice(tmp_path: Path) -> None:
    stage = HttpStage(tmp_path)
    keyed = diagram(NONCE, manner="keyed")

    await _served_and_restarted(stage, http_naive.forget_the_input, keyed, keyed)

    verdict = await stage.judge()
    assert verdict.duplicated == [NONCE]
    assert verdict.rekeyed == [NONCE]
