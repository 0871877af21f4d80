"""Faults upon the wiki's servers and workers: the judge finds nothing. It does find what was broken on purpose."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pressroom.failpoints import HTTP_POINTS, POINTS
from tests.depth import by_depth
from tests.reliability import nemesis, wiki_checker, wiki_naive, wiki_nemesis
from tests.reliability.dump import EventRow, JobRow
from tests.reliability.http_stage import killed
from tests.reliability.journal import Kind, Line
from tests.reliability.run_lab import run_lab
from tests.reliability.stage import until
from tests.reliability.wiki_dump import ArticleRow, RevisionRow, WikiDump
from tests.reliability.wiki_hand import Outcome
from tests.reliability.wiki_page import Seen, seen_on
from tests.reliability.wiki_stage import ARTICLE, WikiStage
from tests.reliability.wiki_texts import text_of

SEED = 20261116
FIRST, SECOND, THIRD = (f"{number:016x}" for number in (1, 2, 3))
SUBMIT = {"submit.validated", "submit.before_commit", "submit.after_commit", "transaction.held"}


def test_faults_upon_the_wiki_lose_no_text_and_mix_up_no_page() -> None:
    # W1, W32, D2, D3, D4
    figures = run_lab("tests.reliability.wiki_crashlab", by_depth(5, 300), SEED)

    for offence in ("lost", "duplicated", "gaps", "stuck", "crossed", "went_back", "overwritten"):
        assert int(figures[offence]) == 0
    for figure in ("recovered", "conflicts", "superseded"):
        assert int(figures[figure]) >= by_depth(0, 1), figure  # a short run need not meet each of them


@pytest.mark.parametrize("role", wiki_nemesis.FATES)
def test_a_seed_gives_the_same_faults_again(role: str) -> None:
    def fate(seed: int) -> list[nemesis.Fault]:
        return list(islice(nemesis.faults(seed, role, 0, wiki_nemesis.FATES[role]), 100))

    assert fate(7) == fate(7)
    assert fate(7) != fate(8)


def test_the_nemesis_knows_what_a_save_passes() -> None:
    assert HTTP_POINTS | SUBMIT <= wiki_nemesis.POINTS <= POINTS


@pytest.mark.sampled(4)
@pytest.mark.parametrize("point", ["transaction.held", "submit.before_commit", "submit.after_commit", "reply.before_send"])
async def test_whoever_was_not_answered_presses_save_again_and_it_is_one_revision(tmp_path: Path, point: str) -> None:
    stage = WikiStage(tmp_path)
    port, other = stage.ports
    hand = stage.hand()
    nth = 2 if point == "reply.before_send" else 1  # the editor was a reply too
    with stage.server(port, failpoints=f"{point}=kill@{nth}") as server:
        await stage.listens(port)
        tab = await stage.editor(hand, port)
        unheard = await stage.press_save(hand, port, tab, FIRST)
        assert await killed(server)
    with stage.server(other):
        await stage.listens(other)
        again = await stage.press_save(hand, other, tab, FIRST)

    verdict = await stage.judge()
    assert (unheard, again) == (Outcome.UNHEARD, Outcome.KEPT)
    assert verdict.clean, verdict
    assert verdict.revisions == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("point", ["handler.started", "handler.returned"])
async def test_a_page_whose_worker_died_is_rendered_by_the_next(tmp_path: Path, point: str) -> None:
    # D4
    stage = WikiStage(tmp_path)
    with stage.server(stage.ports[0], failpoints=f"{point}=kill") as server:
        await stage.listens(stage.ports[0])
        await stage.write(stage.ports[0], FIRST)
        assert await killed(server)

    verdict = await stage.judge()
    assert verdict.clean, verdict
    assert verdict.revisions == 1


@pytest.mark.deep  # it tries the judge
async def test_a_server_that_answers_before_the_commit_loses_what_it_acknowledged(tmp_path: Path) -> None:
    stage = WikiStage(tmp_path)
    port = stage.ports[0]
    never = tmp_path / "never"
    with stage.server(
        port, failpoints=f"submit.before_commit=wait:{never}", naive=wiki_naive.answer_before_the_commit
    ) as server:
        await stage.listens(port)
        outcomes = await stage.write(port, FIRST)
        server.kill()

    verdict = await stage.judge()
    assert outcomes == [Outcome.KEPT]
    assert verdict.lost == [FIRST]


@pytest.mark.deep  # it tries the judge
async def test_a_server_that_dies_between_the_revision_and_its_job_leaves_it_queued_for_ever(tmp_path: Path) -> None:
    # D4
    stage = WikiStage(tmp_path)
    port = stage.ports[0]
    with stage.server(port, failpoints="submit.validated=kill", naive=wiki_naive.submit_after_the_insert) as server:
        await stage.listens(port)
        await stage.write(port, FIRST)
        assert await killed(server)

    verdict = await stage.judge()
    assert verdict.stuck == [f"{ARTICLE}@1"]


@pytest.mark.deep  # it tries the judge
async def test_without_the_number_that_was_read_a_text_is_there_twice_and_over_another(tmp_path: Path) -> None:
    stage = WikiStage(tmp_path)
    port, other = stage.ports
    hand = stage.hand()
    with stage.server(port, failpoints="submit.after_commit=kill", naive=wiki_naive.save_over_whatever_is_there) as server:
        await stage.listens(port)
        tab = await stage.editor(hand, port)
        await stage.press_save(hand, port, tab, FIRST)
        assert await killed(server)
    with stage.server(other, naive=wiki_naive.save_over_whatever_is_there):
        await stage.listens(other)
        await stage.write(other, SECOND)
        await stage.press_save(hand, other, tab, FIRST)

    verdict = await stage.judge()
    assert verdict.duplicated == [FIRST]
    assert verdict.overwritten == [f"{ARTICLE}@3"]


@pytest.mark.deep  # it tries the judge
async def test_html_of_the_newest_kept_with_every_revision_is_crossed(tmp_path: Path) -> None:
    # D2
    stage = WikiStage(tmp_path)
    port = stage.ports[0]
    with stage.server(port, naive=wiki_naive.keep_the_newest_for_all):
        await stage.listens(port)
        await stage.write(port, FIRST, SECOND)

    verdict = await stage.judge()
    assert verdict.crossed == [f"{ARTICLE}@1"]


@pytest.mark.deep  # it tries the judge
async def test_an_old_revision_that_is_opened_late_must_not_be_what_is_shown(tmp_path: Path) -> None:
    stage = WikiStage(tmp_path)
    port, other = stage.ports
    with stage.server(port, "--no-workers"):
        await stage.listens(port)
        hand = stage.hand()
        tab = await stage.editor(hand, port)
        first = asyncio.create_task(stage.press_save(hand, port, tab, FIRST))
        await until(lambda: stage.head() == 1)
        second = asyncio.create_task(stage.write(port, SECOND))
        await until(lambda: stage.head() == 2)

        with stage.server(other, naive=wiki_naive.show_what_came_last):
            await stage.listens(other)
            assert [await first, *await second] == [Outcome.KEPT, Outcome.KEPT]
            await until(lambda: stage.has_rendered(2))
            opened = await stage.hand().read(other, ARTICLE, 1)

    verdict = await stage.judge()
    assert opened == Seen(said=[1], newest=1, nonces=[FIRST], rendered=True)
    assert verdict.went_back == [ARTICLE]
    assert not verdict.crossed


@pytest.mark.deep  # it tries the judge
async def test_a_page_that_was_left_to_whoever_waits_for_it_is_kept_by_nobody(tmp_path: Path) -> None:
    # D3
    stage = WikiStage(tmp_path)
    port = stage.ports[0]
    with stage.server(port, naive=wiki_naive.leave_the_page_to_the_waiter):
        await stage.listens(port)
        await stage.write(port, FIRST)

    verdict = await stage.judge()
    assert verdict.stuck == [f"{ARTICLE}@1"]


type Told = tuple[list[Line], WikiDump]


def line(type: Kind, do: str, at: int = 0, **data: Any) -> Line:
    return Line(at, 1, type, do, {"article": ARTICLE} | data)


def read(shown: int, nonce: str, *, at: int, **changes: Any) -> Line:
    seen = {"said": [shown], "newest": shown, "nonces": [nonce], "rendered": True, "failed": False}
    plain = {"revision": None, "began": at, "http": 200, "seen": seen, "after": None}
    return line("ok", "read", at + 1, **plain | changes)


def innocent() -> Told:
    """Two texts that were saved, rendered and read."""
    journal = [
        line("invoke", "save", nonce=FIRST, source=text_of(FIRST), previous=0),
        line("ok", "save", 10, nonce=FIRST, again=False),
        read(1, FIRST, at=20, after=FIRST),
        line("invoke", "save", nonce=SECOND, source=text_of(SECOND), previous=1),
        line("ok", "save", 30, nonce=SECOND, again=False),
        read(2, SECOND, at=40, after=SECOND),
        read(1, FIRST, at=50, revision=1),
        Line(60, 1, "info", "heads", {"heads": [{"article": ARTICLE, "number": 2, "status": "rendered", "error": None}]}),
    ]
    jobs = [JobRow(1, "job", "wiki.render", "completed", 1, None, None, 1, None, {}, None, {})]
    return journal, WikiDump(
        jobs=jobs,
        events=[EventRow(1, type, None) for type in ("started", "completed")],
        publications=[],
        letters=[],
        ticks=[],
        complaints=[],
        articles=[ArticleRow(ARTICLE, 2, 2)],
        revisions=[
            RevisionRow(ARTICLE, number, text_of(nonce), f"<h1>nonce-{nonce}</h1>", "job", "rendered")
            for number, nonce in ((1, FIRST), (2, SECOND))
        ],
    )


def also(*lines: Line) -> Callable[[Told], Told]:
    return lambda told: ([*told[0], *lines], told[1])


def with_revision(which: int, **changes: Any) -> Callable[[Told], Told]:
    def changed(told: Told) -> Told:
        rows = [replace(row, **changes) if row.number == which else row for row in told[1].revisions]
        return told[0], replace(told[1], revisions=rows)

    return changed


def without_revision(number: int) -> Callable[[Told], Told]:
    return lambda told: (told[0], replace(told[1], revisions=[row for row in told[1].revisions if row.number != number]))


def refused(told: Told) -> Told:
    """The second text met a conflict, and is there."""
    journal = [one for one in told[0] if one.data.get("nonce") != SECOND or one.type != "ok"]
    return [*journal, line("fail", "save", nonce=SECOND, http=409)], told[1]


def test_an_innocent_run_is_clean() -> None:
    verdict = wiki_checker.judge(*innocent())

    assert verdict.clean, verdict
    assert (verdict.acked, verdict.reads) == (2, 3)


@pytest.mark.parametrize(
    ("offence", "change"),
    [
        pytest.param("lost", without_revision(2), id="acknowledged and not there"),
        pytest.param("lost", with_revision(2, source=text_of(SECOND) + "."), id="not word for word"),
        pytest.param("lost", also(line("ok", "read", revision=None, began=70, http=404, seen=None, after=None)), id="unseen"),
        pytest.param("gaps", without_revision(1), id="a number is missing"),
        pytest.param("overwritten", with_revision(2, number=3), id="not after what was read"),
        pytest.param("stuck", with_revision(1, status="queued"), id="queued, and its job is over"),
        pytest.param("stuck", with_revision(2, status="stale"), id="the newest is not rendered"),
        pytest.param("crossed", with_revision(1, html=f"nonce-{SECOND}"), id="the HTML of another"),
        pytest.param("crossed", also(read(2, FIRST, at=70)), id="under the number of another"),
        pytest.param("crossed", also(read(2, SECOND, at=70, revision=1)), id="another than was asked for"),
        pytest.param("crossed", also(read(2, THIRD, at=70)), id="of another article"),
        pytest.param("went_back", also(read(1, FIRST, at=70)), id="older than before"),
        pytest.param("went_back", also(read(1, FIRST, at=35, after=SECOND)), id="without what they saved"),
        pytest.param("went_back", lambda told: (told[0], replace(told[1], articles=[ArticleRow(ARTICLE, 2, 1)])), id="shown"),
        pytest.param("unexpected", refused, id="kept, and told that it is not"),
        pytest.param("misanswered", also(line("fail", "save", nonce=THIRD, http=500)), id="an error of ours"),
    ],
)
def test_the_smallest_change_makes_a_run_guilty(offence: str, change: Callable[[Told], Told]) -> None:
    verdict = wiki_checker.judge(*change(innocent()))

    assert verdict.offences[offence], verdict


def test_a_page_is_read_by_every_number_that_it_says() -> None:
    page = (
        '<p class="banner">Revision 7 is being rendered. Until then you see revision 5. This page completes itself.</p>'
        f'<article class="article"> <h1>nonce-{FIRST}</h1> </article><p><small>Revision 4 by local, now</small></p>'
    )

    assert seen_on(page) == Seen(said=[4, 5], newest=7, nonces=[FIRST], rendered=True)
