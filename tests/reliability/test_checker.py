"""The judge convicts: an innocent run, and for every offence the smallest change that makes it guilty of that one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.reliability import checker
from tests.reliability.checker import Verdict
from tests.reliability.dump import Dump, EventRow, JobRow, Publication
from tests.reliability.journal import Kind, Line

type Run = tuple[list[Line], Dump]


def line(type: Kind, do: str, **data: Any) -> Line:
    return Line(0, 1, type, do, data)


def job(number: int, kind: str, **changes: Any) -> JobRow:
    """A job that ran once, under its first claim, and completed."""
    nonce = {"nonce": f"n{number}", "revision": number}
    plain = JobRow(
        id=number,
        uid=f"u{number}",
        kind=kind,
        status="completed",
        claim=1,
        key=None,
        subject=None,
        date_completed=1,
        last_error=None,
        result=nonce | {"token": 1},
        errors=None,
        payload=nonce,
    )
    return replace(plain, **changes)


def innocent() -> Run:
    """Two revisions of a page, one after the other; a letter; a bomb; a wait that was answered and a cancel that won."""
    pages = [job(1, "page", key="k"), job(2, "page", key="k")]
    letter = job(3, "note", payload={"nonce": "n3", "revision": 3, "letter": True})
    bomb = job(4, "bomb", status="failed", result=None, errors=[{"code": "worker_crash"}])
    unwanted = job(5, "note", status="cancelled", result=None)
    jobs = [*pages, letter, bomb, unwanted]
    journal = [line("invoke", "submit", nonce=each.payload["nonce"]) for each in jobs]
    journal += [
        line("ok", "submit", nonce=each.payload["nonce"], uid=each.uid, kind=each.kind, revision=each.id) for each in jobs
    ]
    journal += [
        line("invoke", "wait", nonce="n2", uid="u2", kind="page", revision=2, client="c"),
        line("ok", "wait", nonce="n2", revision=2),
        line("info", "left", client="c"),
        line("ok", "cancel", uid="u5", asked=True),
    ]
    events = [EventRow(each.id, type, {}) for each in jobs for type in ("queued", "started", each.status)]
    publications = [Publication(each.uid, each.kind, each.status, each.key, each.id) for each in jobs]
    return journal, Dump(jobs, events, publications, ["n3"], [], [])


def change_job(run: Run, number: int, **changes: Any) -> Run:
    journal, dump = run
    return journal, replace(dump, jobs=[replace(each, **changes) if each.id == number else each for each in dump.jobs])


def forget_job(run: Run) -> Run:
    journal, dump = run
    kept = [each for each in dump.jobs if each.id != 2]
    return journal, replace(dump, jobs=kept, events=[event for event in dump.events if event.job_id != 2])


def go_back_to_an_older_payload(run: Run) -> Run:
    older = {"nonce": "n2", "revision": 1}
    return change_job(run, 2, payload=older, result=older | {"token": 1})


def publish_twice(run: Run) -> Run:
    journal, dump = run
    return journal, replace(dump, publications=[*dump.publications, dump.publications[2]])


def publish_not_at_all(run: Run) -> Run:
    journal, dump = run
    return journal, replace(dump, publications=[row for row in dump.publications if row.uid != "u3"])


def leave_open(run: Run) -> Run:
    journal, dump = change_job(run, 3, status="in_progress", result=None)
    events = [event for event in dump.events if (event.job_id, event.type) != (3, "completed")]
    return journal, replace(dump, events=events)


def end_twice(run: Run) -> Run:
    journal, dump = run
    return journal, replace(dump, events=[*dump.events, EventRow(3, "failed", {})])


def start_the_second_before_the_first_ended(run: Run) -> Run:
    journal, dump = run
    first, second = dump.events[:3], dump.events[3:6]
    return journal, replace(dump, events=[*first[:2], *second[:2], first[2], second[2], *dump.events[6:]])


def keep_the_result_of_a_lost_claim(run: Run) -> Run:
    return change_job(run, 3, claim=2)


def publish_the_older_last(run: Run) -> Run:
    journal, dump = run
    first, second, *rest = dump.publications
    return journal, replace(dump, publications=[second, first, *rest])


def answer_with_an_older_revision(run: Run) -> Run:
    journal, dump = run
    return [replace_data(each, revision=1) if (each.type, each.do) == ("ok", "wait") else each for each in journal], dump


def never_answer(run: Run) -> Run:
    journal, dump = run
    return [each for each in journal if (each.type, each.do) != ("ok", "wait")], dump


def keep_another_result(run: Run) -> Run:
    return change_job(run, 3, result={"nonce": "n1", "revision": 3, "token": 1})


def complete_what_was_cancelled(run: Run) -> Run:
    journal, dump = change_job(run, 5, status="completed", result={"nonce": "n5", "revision": 5, "token": 1})
    events = [EventRow(5, "completed", {}) if event.type == "cancelled" else event for event in dump.events]
    return journal, replace(dump, events=events)


def forget_the_letter(run: Run) -> Run:
    journal, dump = run
    return journal, replace(dump, letters=[])


def refuse_what_is_there(run: Run) -> Run:
    journal, dump = run
    return [*journal, line("fail", "submit", nonce="n3")], dump


def let_poison_off(run: Run) -> Run:
    return change_job(run, 4, errors=[{"code": "handler_error"}])


def complain(run: Run) -> Run:
    journal, dump = run
    return journal, replace(dump, complaints=["row 7 missing from index job_ready"])


def replace_data(each: Line, **data: Any) -> Line:
    return Line(each.at, each.pid, each.type, each.do, each.data | data)


GUILTY: dict[str, Callable[[Run], Run]] = {
    "lost": forget_job,
    "lost_update": go_back_to_an_older_payload,
    "duplicated": publish_twice,
    "unpublished": publish_not_at_all,
    "stuck": leave_open,
    "two_terminal": end_twice,
    "two_holders": start_the_second_before_the_first_ended,
    "stale_accepted": keep_the_result_of_a_lost_claim,
    "regress": publish_the_older_last,
    "stale_answer": answer_with_an_older_revision,
    "waiter_unanswered": never_answer,
    "crossed": keep_another_result,
    "uncancelled": complete_what_was_cancelled,
    "half_written": forget_the_letter,
    "unexpected": refuse_what_is_there,
    "unparked": let_poison_off,
    "integrity": complain,
}


def test_an_innocent_run_is_not_convicted() -> None:
    assert checker.judge(*innocent()).clean


@pytest.mark.parametrize("offence", GUILTY)
def test_an_offence_is_found_and_no_other(offence: str) -> None:
    verdict = checker.judge(*GUILTY[offence](innocent()))

    assert [name for name, victims in verdict.offences.items() if victims] == [offence]


def test_every_offence_has_its_example() -> None:
    assert Verdict().offences.keys() == GUILTY.keys()
