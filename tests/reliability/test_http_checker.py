"""The judge over HTTP convicts: an innocent run, and for every offence the smallest change that makes it guilty of that one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.reliability import http_checker
from tests.reliability.dump import Dump, EventRow, JobRow
from tests.reliability.http_checker import HttpVerdict
from tests.reliability.http_wants import source_of
from tests.reliability.journal import Kind, Line

type Run = tuple[list[Line], Dump]

NONCES = {"note": "000000000000000a", "diagram": "000000000000000b"}
LINK = {"name": "7f3k9m2q8w4xz", "uid": "diagram", "expires": 100.0}


def line(type: Kind, do: str, **data: Any) -> Line:
    return Line(0, 1, type, do, data)


def told(kind: str, **changes: Any) -> Line:
    plain = {"nonce": NONCES[kind], "uid": kind, "key": NONCES[kind], "link": None, "answer": "new"}
    return line("ok", "submit", **plain | {"replayed": False, "waited": False} | changes)


def look(**changes: Any) -> Line:
    plain = {"uid": "diagram", "http": 200, "status": "completed", "artifact": "whole", "nonce": NONCES["diagram"]}
    return line("ok", "look", **plain | {"sha256": "right"} | changes)


def visit(**changes: Any) -> Line:
    plain = {"link": LINK, "http": 200, "wall": 50.0, "artifact": "whole", "nonce": NONCES["diagram"], "sha256": "right"}
    return line("ok", "visit", **plain | changes)


def job(number: int, kind: str, payload: Any, **changes: Any) -> JobRow:
    plain = JobRow(number, kind, kind, "completed", 1, None, None, 1, None, {}, None, payload)
    return replace(plain, **changes)


def innocent() -> Run:
    """A note, and a diagram whose short link was given and read."""
    journal = [
        *(line("invoke", "submit", nonce=nonce, language=None) for nonce in NONCES.values()),
        told("note"),
        told("diagram", link=LINK),
        line("ok", "look", uid="note", http=200, status="completed"),
        look(),
        visit(),
        line("info", "clean", nonce=NONCES["diagram"], sha256="right"),
    ]
    jobs = [
        job(1, "note", {"nonce": NONCES["note"]}),
        job(2, "diagram", {"source": source_of(NONCES["diagram"], "dot")}),
    ]
    events = [EventRow(number, type, None) for number in (1, 2) for type in ("started", "completed")]
    return journal, Dump(jobs=jobs, events=events, publications=[], letters=[], ticks=[], complaints=[])


def also(*lines: Line) -> Callable[[Run], Run]:
    return lambda run: ([*run[0], *lines], run[1])


def holding(**changes: Any) -> Callable[[Run], Run]:
    return lambda run: (run[0], replace(run[1], **changes))


def reopened(run: Run) -> Run:
    journal, dump = run
    note = replace(dump.jobs[0], status="queued", date_completed=None)
    return journal, replace(dump, jobs=[note, dump.jobs[1]], events=dump.events[2:])


def twice(run: Run) -> Run:
    journal, dump = run
    events = [EventRow(3, "started", None), EventRow(3, "completed", None)]
    again = replace(dump.jobs[1], id=3, uid="again")
    return journal, replace(dump, jobs=[*dump.jobs, again], events=[*dump.events, *events])


def unasked(run: Run) -> Run:
    journal, dump = run
    return [each for each in journal if each.data.get("nonce") != NONCES["note"] or each.type != "invoke"], dump


def ended_again(run: Run) -> Run:
    return holding(events=[*run[1].events, EventRow(1, "failed", None)])(run)


def held_twice(run: Run) -> Run:
    return holding(events=[EventRow(1, "started", None), *run[1].events])(run)


GUILTY: dict[str, Callable[[Run], Run]] = {
    "lost": also(told("note", uid="nowhere", key=None)),
    "stuck": reopened,
    "duplicated": twice,
    "two_terminal": ended_again,
    "two_holders": held_twice,
    "crossed": also(visit(nonce=NONCES["note"])),
    "unexpected": unasked,
    "integrity": holding(complaints=["a page is torn"]),
    "torn": also(visit(artifact="torn")),
    "unlike": also(look(sha256="wrong")),
    "unserved": also(look(artifact="HTTP 404")),
    "gone": also(visit(http=404, artifact="HTTP 404")),
    "rekeyed": also(told("diagram", key=NONCES["note"])),
    "misanswered": also(line("fail", "submit", nonce=NONCES["note"], http=500, code="internal")),
    "left_behind": also(line("info", "remains", processes=["7 dot"])),
}


def test_an_innocent_run_is_clean() -> None:
    verdict = http_checker.judge(*innocent())

    assert verdict.clean, verdict
    assert (verdict.acked, verdict.artifacts, verdict.links) == (2, 1, 1)


@pytest.mark.parametrize("offence", GUILTY)
def test_an_offence_is_seen_and_named(offence: str) -> None:
    verdict = http_checker.judge(*GUILTY[offence](innocent()))

    assert [name for name, victims in verdict.offences.items() if victims] == [offence]


def test_every_offence_has_its_example() -> None:
    assert HttpVerdict().offences.keys() == GUILTY.keys()


def test_a_link_may_go_when_its_time_is_over() -> None:
    late = visit(http=404, artifact="HTTP 404", wall=LINK["expires"])

    assert http_checker.judge(*also(late)(innocent())).clean


def test_a_link_that_was_given_and_never_tried_counts_as_gone() -> None:
    given = told("diagram", link=LINK | {"name": "0000000000000"})

    assert http_checker.judge(*also(given)(innocent())).gone == ["0000000000000"]


def test_whoever_waits_may_be_told_that_workers_died() -> None:
    unlucky = line("fail", "submit", nonce=NONCES["diagram"], http=500, code="worker_crash")

    assert http_checker.judge(*also(unlucky)(innocent())).clean
