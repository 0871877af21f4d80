"""Faults upon servers, workers and the edge of documentation: the judge finds nothing, but for what was broken on purpose."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pressroom.failpoints import POINTS
from tests.depth import by_depth
from tests.reliability import docs_checker, docs_naive, docs_nemesis, nemesis
from tests.reliability.docs_dump import BuildRow, DocsDump, EditionRow, HistoryRow
from tests.reliability.docs_stage import DocsStage
from tests.reliability.dump import EventRow, JobRow
from tests.reliability.journal import Kind, Line
from tests.reliability.run_lab import run_lab

SEED = 20261119
OFFENCES = ("lost", "stuck", "gaps", "behind", "unpublished", "unexplained", "mixed", "older", "missing", "misanswered")


def test_faults_upon_builds_lose_none_and_show_readers_no_mixture() -> None:
    # Q9, Q20, Q22, Q24, Q33; D23, D26, D28, D29
    figures = run_lab("tests.reliability.docs_crashlab", by_depth(5, 200), SEED)

    for offence in OFFENCES:
        assert int(figures[offence]) == 0
    assert int(figures["completed"]) > 0


@pytest.mark.parametrize("role", docs_nemesis.FATES)
def test_a_seed_gives_the_same_faults_again(role: str) -> None:
    def fate(seed: int) -> list[nemesis.Fault]:
        return list(islice(nemesis.faults(seed, role, 0, docs_nemesis.FATES[role]), 100))

    assert fate(7) == fate(7)
    assert fate(7) != fate(8)
    assert docs_nemesis.POINTS <= POINTS


@pytest.mark.deep  # it tries the judge
@pytest.mark.parametrize(
    ("naive", "offence"),
    [
        (docs_naive.forget_to_publish, "unpublished"),
        (docs_naive.settle_nothing, "stuck"),
        (docs_naive.name_another_build, "mixed"),
        (None, ""),
    ],
)
async def test_documentation_that_is_broken_on_purpose_is_found_out(
    tmp_path: Path, database: str, naive: Callable[[], None] | None, offence: str
) -> None:
    stage = DocsStage(tmp_path, database)
    await stage.found()
    with stage.serving(0, naive) as port:
        await stage.listens(port)
        for nonce in ("0" * 16, "1" * 16):
            await stage.publish(port, "guide", nonce)
            await stage.read("guide")
        verdict = await stage.judge(port)

    offences = [name for name, victims in verdict.offences.items() if victims]
    assert (offence in offences) if offence else not offences, {name: verdict.offences[name] for name in offences}


PROJECT, BUILDS, EDITION = "guide", ("uid-1", "uid-2"), "edition-1"


def line(type: Kind, do: str, at: int = 1, **data: Any) -> Line:
    return Line(at, 1, type, do, data)


def read(build: int, nonce: int | None = None, *, http: int = 200, edge: int = 7, named: bool = True) -> Line:
    seen = {"http": http, "build": f"uid-{build}" if named else None, "nonce": f"nonce-{nonce or build}"}
    return line("ok", "read", edge=edge, project=PROJECT, path="page.html", **seen)


def last(build: int) -> Line:
    return line("ok", "last", place="edge", project=PROJECT, path="page.html", nonce=f"nonce-{build}")


def build(at: int, status: str = "completed", **changes: Any) -> BuildRow:
    plain = BuildRow(f"uid-{at}", PROJECT, at, status, f"nonce-{at}", f"artifact-{at}", None)
    return replace(plain, **changes)


def edition(**changes: Any) -> EditionRow:
    return replace(EditionRow(EDITION, PROJECT, "__main", "uid-2", 2, 2, "published"), **changes)


def job(number: int, status: str = "completed") -> JobRow:
    return JobRow(number, f"job-{number}", "docs.build_processing", status, 1, None, None, 1, None, None, [], {})


type Told = tuple[list[Line], DocsDump]


def innocent() -> Told:
    """Two builds of one project, the second of which is shown."""
    started = [line("ok", "start", project=PROJECT, build=uid, nonce="", job="") for uid in BUILDS]
    return [*started, read(1), read(2), line("info", "peace", wall=1.0), last(2)], DocsDump(
        jobs=[job(1), job(2)],
        events=[EventRow(n, "completed", None) for n in (1, 2)],
        publications=[],
        letters=[],
        ticks=[],
        complaints=[],
        builds=[build(1), build(2)],
        editions=[edition()],
        history=[HistoryRow(EDITION, "uid-1", 1, "published"), HistoryRow(EDITION, "uid-2", 2, "published")],
    )


def also(*lines: Line) -> Callable[[Told], Told]:
    return lambda told: ([*told[0], *lines], told[1])


def with_dump(**changes: Any) -> Callable[[Told], Told]:
    return lambda told: (told[0], replace(told[1], **changes))


def test_an_innocent_run_is_clean() -> None:
    verdict = docs_checker.judge(*innocent())

    assert verdict.clean, verdict
    assert (verdict.acked, verdict.completed, verdict.moves, verdict.recovered) == (2, 2, 2, 0)


def test_a_build_that_was_announced_twice_is_known_by_the_one_that_was_uploaded() -> None:
    """In whatever order the database lists them."""
    forgotten = replace(build(2, "pending", number=None), uid="uid-3")
    for builds in ([forgotten, build(1), build(2)], [build(1), build(2), forgotten]):
        assert docs_checker.judge(*with_dump(builds=builds)(innocent())).clean


@pytest.mark.parametrize(
    ("offence", "change"),
    [
        pytest.param("lost", with_dump(builds=[build(1)]), id="a build that was acknowledged"),
        pytest.param("lost", with_dump(builds=[build(1), build(2, "pending", number=None)]), id="it was never started"),
        pytest.param("stuck", with_dump(builds=[build(1), build(2, "processing")]), id="a build without an end"),
        pytest.param("stuck", with_dump(jobs=[job(1), job(2, "queued")]), id="its job is open"),
        pytest.param("duplicated", with_dump(builds=[build(1), build(2, nonce="nonce-1")]), id="one build was processed twice"),
        pytest.param("gaps", with_dump(builds=[build(1), build(2, number=3)]), id="a number is missing"),
        pytest.param("gaps", with_dump(history=[HistoryRow(EDITION, "uid-2", 2, "published")]), id="a move is missing"),
        pytest.param(
            "gaps",
            with_dump(history=[HistoryRow(EDITION, "uid-2", 1, "published"), HistoryRow(EDITION, "uid-1", 2, "published")]),
            id="an older build after a newer one",
        ),
        pytest.param("unexplained", with_dump(builds=[build(1, "failed"), build(2)]), id="a failure without a reason"),
        pytest.param("behind", with_dump(editions=[edition(build="uid-1")]), id="the pointer is behind"),
        pytest.param("behind", also(last(1)), id="the edge is behind"),
        pytest.param("unpublished", with_dump(editions=[edition(published_seq=1)]), id="a move that was not published"),
        pytest.param("unpublished", with_dump(editions=[edition(publish_status="failed")]), id="it says that it failed"),
        pytest.param("mixed", also(read(2, 1)), id="a build's name over another's bytes"),
        pytest.param("mixed", also(read(2, 9, named=False)), id="bytes of no build"),
        pytest.param("older", also(read(1)), id="a reader goes back"),
        pytest.param("older", also(read(2, named=False, edge=0), read(1, named=False, edge=0)), id="a folder goes back"),
        pytest.param("missing", also(read(2, http=404)), id="a page that is gone"),
        pytest.param("misanswered", also(line("fail", "start", nonce="n", http=500)), id="an error of ours"),
    ],
)
def test_the_smallest_change_makes_a_run_guilty(offence: str, change: Callable[[Told], Told]) -> None:
    verdict = docs_checker.judge(*change(innocent()))

    assert verdict.offences[offence], verdict


def test_another_reader_may_see_an_older_build() -> None:
    """Two edges need not move at the same time."""
    assert docs_checker.judge(*also(read(1, edge=8))(innocent())).clean
