"""Faults upon real servers and workers: the judge finds nothing. It does find what was broken on purpose."""

import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from pressroom.failpoints import HTTP_POINTS, POINTS
from tests.reliability import http_naive, http_nemesis, nemesis
from tests.reliability.http_desk import render
from tests.reliability.http_stage import HttpStage, killed

ROOT = Path(__file__).parents[2]
SEED = 20261116
NONCE = "0123456789abcdef"
NOTE = {"kind": "note", "payload": {"nonce": NONCE}}


@pytest.mark.timeout(400)
def test_three_hundred_faults_upon_servers_and_workers_lose_nothing_and_tear_nothing() -> None:
    # I1, I3, I4, I6, I22
    argv = [sys.executable, "-m", "tests.reliability.http_crashlab", "--cycles", "300", "--seed", str(SEED)]

    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)

    first, *_, last = done.stdout.splitlines()
    assert first == f"seed: {SEED}"
    assert last.startswith("verdict: PASS "), f"{last}\n{done.stderr}"
    assert done.returncode == 0
    figures = dict(pair.split("=") for pair in last.removeprefix("verdict: PASS ").split())
    assert int(figures["cycles"]) >= 300
    assert int(figures["lost"]) == int(figures["torn"]) == int(figures["stuck"]) == int(figures["duplicated"]) == 0
    assert int(figures["recovered"]) > 0


@pytest.mark.parametrize("role", http_nemesis.FATES)
def test_a_seed_gives_the_same_faults_again(role: str) -> None:
    def fate(seed: int) -> list[nemesis.Fault]:
        return list(islice(nemesis.faults(seed, role, 0, http_nemesis.FATES[role]), 100))

    assert fate(7) == fate(7)
    assert fate(7) != fate(8)


def test_the_nemesis_knows_every_failpoint_of_the_service() -> None:
    assert HTTP_POINTS <= http_nemesis.POINTS <= POINTS


@pytest.mark.parametrize("point", ["submit.before_commit", "submit.after_commit", "reply.before_send"])
async def test_whoever_was_answered_has_a_job_and_whoever_was_not_may_ask_again(tmp_path: Path, point: str) -> None:
    stage = HttpStage(tmp_path)
    port, other = stage.ports
    with stage.server(port, failpoints=f"{point}=kill") as server:
        await stage.listens(port)

        assert await stage.submit(port, NOTE, NONCE, **{"Idempotency-Key": NONCE}) is None

        assert await killed(server)
    with stage.server(other):
        await stage.listens(other)
        assert await stage.submit(other, NOTE, NONCE, **{"Idempotency-Key": NONCE}) is not None

    verdict = await stage.judge()
    assert verdict.clean, verdict
    assert verdict.replayed == (0 if point == "submit.before_commit" else 1)


async def _submit_and_die(stage: HttpStage, naive: Callable[[], None] | None, point: str) -> str | None:
    port = stage.ports[0]
    with stage.server(port, failpoints=f"{point}=kill", naive=naive) as server:
        await stage.listens(port)
        uid = await stage.submit(port, render("markdown", NONCE), NONCE)
        assert await killed(server)
    return uid


async def test_a_server_that_answers_before_the_commit_loses_what_it_acknowledged(tmp_path: Path) -> None:
    # I1; the server above, at the same failpoint, answers nobody
    stage = HttpStage(tmp_path)

    uid = await _submit_and_die(stage, http_naive.answer_before_the_commit, "submit.before_commit")

    assert uid is not None
    assert (await stage.judge()).lost == [uid]


@pytest.mark.parametrize("point", ["blob.temp_written", "blob.renamed", "turn.before_commit"])
async def test_a_worker_that_dies_while_it_publishes_leaves_a_whole_artifact_to_the_next(tmp_path: Path, point: str) -> None:
    # I6
    stage = HttpStage(tmp_path)

    uid = await _submit_and_die(stage, None, point)

    verdict = await stage.judge()
    assert verdict.clean, verdict
    assert uid is None or verdict.artifacts == 1


async def test_an_artifact_that_is_written_in_place_is_torn(tmp_path: Path) -> None:
    # I6
    stage = HttpStage(tmp_path)

    uid = await _submit_and_die(stage, http_naive.write_in_place, "blob.temp_written")

    assert uid is not None
    assert (await stage.judge(http_naive.write_in_place)).torn == [uid]


async def test_without_the_idempotency_key_a_client_that_asks_again_gets_a_second_job(tmp_path: Path) -> None:
    stage = HttpStage(tmp_path)
    port = stage.ports[0]
    with stage.server(port, naive=http_naive.forget_the_key):
        await stage.listens(port)
        for _ in range(2):
            await stage.submit(port, NOTE, NONCE, **{"Idempotency-Key": NONCE})

    assert (await stage.judge()).duplicated == [NONCE]
