"""The judge of the chaos lab sees each offence when there is one, and none when there is not."""

from typing import Any

import pytest

from tests.chaos.clients import LIMIT
from tests.chaos.judge import judge
from tests.chaos.run import Times, recovery
from tests.reliability.dump import Dump, EventRow, JobRow, Publication
from tests.reliability.journal import Line

UID = "0" * 26
INVOKED = Line(1, 1, "invoke", "submit", {"nonce": "n"})
ACKED = Line(2, 1, "ok", "submit", {"nonce": "n", "uid": UID, "kind": "note", "revision": 0, "replayed": False})


def answered(
    http: int | None,
    *,
    again: str | None = None,
    seconds: float = 0.1,
    expects: int | None = None,
    follows: int | None = None,
) -> Line:
    told = {"nonce": "n", "http": http, "again": again, "seconds": seconds, "reason": None}
    return Line(2, 1, "info", "answer", told | {"expects": expects, "follows": follows})


def a_job(id: int = 1, uid: str = UID, status: str = "completed") -> JobRow:
    result = {"nonce": "n", "token": 1}
    return JobRow(id, uid, "note", status, 1, None, None, 1, None, result, [], {"nonce": "n", "kind": "note"})


def a_dump(*jobs: JobRow) -> Dump:
    events = [EventRow(job.id, type, None) for job in jobs for type in ("started", job.status)]
    published = [Publication(job.uid, "note", job.status, None, 0) for job in jobs]
    return Dump([*jobs], events, published, [], [], [])


def offences(*lines: Line, dump: Dump, **how: Any) -> set[str]:
    return {name for name, those in judge(lines, dump, **how).offences.items() if those}


def test_a_job_that_was_accepted_and_completed_is_no_offence() -> None:
    assert offences(INVOKED, ACKED, answered(202), dump=a_dump(a_job())) == set()


def test_one_that_is_gone_is_lost_and_one_that_failed_is_told() -> None:
    assert offences(INVOKED, ACKED, dump=a_dump()) == {"lost"}
    assert offences(INVOKED, ACKED, dump=a_dump(a_job(status="failed"))) == {"failed"}


def test_one_request_that_became_two_jobs_is_a_duplicate() -> None:
    """I2"""
    assert offences(INVOKED, ACKED, dump=a_dump(a_job(), a_job(2, "1" * 26))) == {"duplicated"}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (answered(503, again="5"), set()),
        (answered(503), {"misanswered"}),
        (answered(500), {"misanswered"}),
        (answered(None), {"unreachable"}),
        (answered(202, seconds=LIMIT), {"hung"}),
    ],
)
def test_an_answer_is_a_success_or_a_refusal_that_says_when_to_come_again(answer: Line, found: set[str]) -> None:
    assert offences(INVOKED, ACKED, answer, dump=a_dump(a_job())) == found


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        (answered(422, expects=422), set()),
        (answered(503, again="5", expects=422), set()),
        (answered(202, expects=422), {"misanswered"}),
        (answered(500, expects=422), {"misanswered"}),
        (answered(503, expects=422), {"misanswered"}),
    ],
)
def test_a_mistake_is_refused_as_one(mistake: Line, found: set[str]) -> None:
    assert offences(INVOKED, ACKED, mistake, dump=a_dump(a_job())) == found


@pytest.mark.parametrize(
    ("good", "found"),
    [
        (answered(202, follows=422), set()),
        (answered(503, again="5", follows=422), set()),
        (answered(500, follows=422), {"misanswered", "spoiled"}),
    ],
)
def test_a_good_submit_is_not_spoiled_by_the_mistake_before_it(good: Line, found: set[str]) -> None:
    assert offences(INVOKED, ACKED, answered(422, expects=422), good, dump=a_dump(a_job())) == found


def test_where_services_die_connections_may_end() -> None:
    assert offences(INVOKED, ACKED, answered(None), dump=a_dump(a_job()), services_die=True) == set()


def test_the_rate_is_back_with_the_first_window_that_holds_most_of_it() -> None:
    times = Times(before=4, during=5, after=10)
    before = [8 + n / 10 for n in range(20)]
    after = [18 + n / 10 for n in range(70)]

    assert recovery([*before, *after], 10.0, 15.0, times) == pytest.approx(2.9, abs=0.2)
    assert recovery(before, 10.0, 15.0, times) is None
