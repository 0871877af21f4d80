"""Faults upon packs' servers, workers and render service: the judge finds nothing. It does find what was broken on purpose."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pressroom.failpoints import POINTS
from tests.depth import by_depth
from tests.reliability import nemesis, packs_checker, packs_naive, packs_nemesis
from tests.reliability.dump import EventRow, JobRow
from tests.reliability.journal import Kind, Line
from tests.reliability.packs_dump import DocumentRow, PacksDump, RenderRow
from tests.reliability.packs_stage import PacksStage
from tests.reliability.run_lab import run_lab

SEED = 20261118


def test_faults_upon_packs_lose_no_document_and_make_none_twice() -> None:
    # R9, R20, R22, R26, R29, R30, D17, D20, D21
    figures = run_lab("tests.reliability.packs_crashlab", by_depth(5, 300), SEED)

    for offence in ("lost", "stuck", "duplicated", "gaps", "torn", "unserved", "unalerted"):
        assert int(figures[offence]) == 0
    assert int(figures["ready"]) > 0


@pytest.mark.parametrize("role", packs_nemesis.FATES)
def test_a_seed_gives_the_same_faults_again(role: str) -> None:
    def fate(seed: int) -> list[nemesis.Fault]:
        return list(islice(nemesis.faults(seed, role, 0, packs_nemesis.FATES[role]), 100))

    assert fate(7) == fate(7)
    assert fate(7) != fate(8)
    assert packs_nemesis.POINTS <= POINTS


@pytest.mark.deep  # it tries the judge
@pytest.mark.parametrize(
    ("naive", "offence"),
    [
        (packs_naive.forget_the_number, "hidden"),
        (packs_naive.settle_elsewhere, "stuck"),
        (packs_naive.cut_the_file_short, "torn"),
        (None, ""),
    ],
)
async def test_a_server_that_is_broken_on_purpose_is_found_out(
    tmp_path: Path, naive: Callable[[], None] | None, offence: str
) -> None:
    stage = PacksStage(tmp_path)
    await stage.found()
    with stage.serving(0, naive) as port:
        await stage.listens(port)
        client = stage.client()
        pack = await client.create_pack(port, "0123456789abcdef")
        assert pack is not None
        assert await client.render(port, pack, None, "all of them")
        verdict = await stage.judge(naive)

    assert [name for name, victims in verdict.offences.items() if victims] == ([offence] if offence else []), verdict


PACK, JOB = "pack-1", "job-1"


def line(type: Kind, do: str, at: int = 1, **data: Any) -> Line:
    return Line(at, 1, type, do, data)


def download(version: int, at: int = 20, *, http: int = 200, whole: bool = True) -> Line:
    seen = {"pack": PACK, "doc_id": "note", "version": version, "file_id": f"file-{version}"}
    return line("ok", "download", at, **seen, http=http, whole=whole)


def job(number: int, status: str = "completed") -> JobRow:
    return JobRow(number, f"uid-{number}", "packs.render", status, 1, None, None, 1, None, None, [], {})


def render(number: int, outcome: str | None = "ready") -> RenderRow:
    file = f"file-{number}" if outcome == "ready" else None
    return RenderRow(PACK, "note", number, f"uid-{number}", f"job-{number}", outcome, file, "0" * 64 if file else None)


type Told = tuple[list[Line], PacksDump]


def innocent() -> Told:
    """Two versions that are ready, and a third that failed."""
    journal = [
        line("invoke", "create", nonce="n"),
        line("ok", "create", nonce="n", pack=PACK),
        *[line("ok", "render", pack=PACK, jobs=[{"doc_id": "note", "job_id": f"job-{n}", "version": n}]) for n in (1, 2, 3)],
        line("info", "peace", wall=1.0),
        line("info", "inspecting", at=10),
        download(1),
        download(2),
    ]
    return journal, PacksDump(
        jobs=[job(1), job(2), job(3, "failed")],
        events=[EventRow(n, "failed" if n == 3 else "completed", None) for n in (1, 2, 3)],
        publications=[],
        letters=[],
        ticks=[],
        complaints=[],
        packs={PACK: "n"},
        renders=[render(1), render(2), render(3, "failed")],
        documents=[DocumentRow(PACK, "note", 3, 2)],
        alerted=1,
    )


def also(*lines: Line) -> Callable[[Told], Told]:
    return lambda told: ([*told[0], *lines], told[1])


def with_render(number: int, **changes: Any) -> Callable[[Told], Told]:
    def changed(told: Told) -> Told:
        rows = [replace(row, **changes) if row.number == number else row for row in told[1].renders]
        return told[0], replace(told[1], renders=rows)

    return changed


def without_render(number: int) -> Callable[[Told], Told]:
    return lambda told: (told[0], replace(told[1], renders=[row for row in told[1].renders if row.number != number]))


def with_dump(**changes: Any) -> Callable[[Told], Told]:
    return lambda told: (told[0], replace(told[1], **changes))


def test_an_innocent_run_is_clean() -> None:
    verdict = packs_checker.judge(*innocent())

    assert verdict.clean, verdict
    assert (verdict.acked, verdict.ready, verdict.failed, verdict.recovered) == (3, 2, 1, 0)


@pytest.mark.parametrize(
    ("offence", "change"),
    [
        pytest.param("lost", with_dump(packs={}), id="a pack that was acknowledged"),
        pytest.param("lost", without_render(3), id="a render that was acknowledged"),
        pytest.param("gaps", without_render(1), id="a number is missing"),
        pytest.param("stuck", with_render(3, outcome=None), id="no outcome"),
        pytest.param("stuck", with_render(3, outcome="superseded"), id="superseded by nothing"),
        pytest.param("stuck", with_dump(jobs=[job(1), job(2, "queued"), job(3, "failed")]), id="its job is open"),
        pytest.param("duplicated", with_dump(packs={PACK: "n", "pack-2": "n"}), id="two packs of one key"),
        pytest.param("duplicated", with_render(2, artifacts=2), id="two files"),
        pytest.param("duplicated", with_render(2, file_id="file-1"), id="one file for two versions"),
        pytest.param("hidden", with_dump(documents=[DocumentRow(PACK, "note", 3, 1)]), id="an older file is the good one"),
        pytest.param("hidden", with_dump(documents=[DocumentRow(PACK, "note", 3, None)]), id="a failure hides it"),
        pytest.param("torn", also(download(2, whole=False)), id="not the bytes of its hash"),
        pytest.param("unserved", also(download(2, http=404)), id="a link that opens nothing"),
        pytest.param("unserved", lambda told: (told[0][:-1], told[1]), id="never downloaded"),
        pytest.param("unalerted", with_dump(alerted=0), id="a failure without an alert"),
        pytest.param("unexpected", with_dump(packs={PACK: "n", "pack-2": "m"}), id="a pack that nobody asked for"),
        pytest.param("misanswered", also(line("fail", "render", pack=PACK, http=500)), id="an error of ours"),
    ],
)
def test_the_smallest_change_makes_a_run_guilty(offence: str, change: Callable[[Told], Told]) -> None:
    verdict = packs_checker.judge(*change(innocent()))

    assert verdict.offences[offence], verdict
