"""What an attempt's result means. A pure function, so a table of cases says it all."""

from dataclasses import replace
from typing import Any

import pytest

from pressroom.definitions import Backoff, Kind
from pressroom.errors import (
    ArtifactStoreMismatch,
    Backpressure,
    Cancelled,
    InvalidArgument,
    NotFound,
    RenderRefused,
    SourceInvalid,
    StoreBusy,
    StoreFull,
    StoreUnavailable,
    Timeout,
    Transient,
)
from pressroom.model import Claim, GaveUp, Outcome, PartlySucceeded, Postponed, Released, Retry, Stopped, Succeeded
from pressroom.worker.judge import DETAIL_LIMIT, EncodedResult, WorkerStopping, describe_error, judge, storable_text

KIND = Kind("k", lambda job, payload: None, max_attempts=3, backoff=Backoff(base=2, cap=60, jitter=0))


def a_claim(failures: int = 0) -> Claim:
    return Claim(1, "0" * 26, "k", 1, 1, 1, 1, failures, 3, 0, None, None, "", None, None, None, None, None, "{}")


def verdict(result: EncodedResult | BaseException, failures: int = 0, kind: Kind = KIND) -> Outcome:
    return judge(a_claim(failures), kind, result, random=0.5)


def test_a_value_succeeds() -> None:
    assert verdict(EncodedResult('"HI"', [])) == Succeeded('"HI"')


def test_a_value_with_errors_succeeds_in_part() -> None:  # Q35
    outcome = verdict(EncodedResult("1", ["v2: no"]))

    assert isinstance(outcome, PartlySucceeded)
    assert outcome.error["message"] == "v2: no"


@pytest.mark.parametrize("error", [SourceInvalid("bad"), InvalidArgument("bad"), NotFound("gone")])
def test_what_is_wrong_today_and_tomorrow_is_not_tried_again(error: Exception) -> None:
    assert isinstance(verdict(error), GaveUp)


@pytest.mark.parametrize("error", [Transient("no"), Timeout(), ValueError("x"), RuntimeError(), SystemExit(1), MemoryError()])
def test_what_may_pass_is_tried_again_until_the_attempts_are_used_up(error: BaseException) -> None:  # Q33, D30
    first, second, third = (verdict(error, failures) for failures in (0, 1, 2))

    assert isinstance(first, Retry)
    assert isinstance(second, Retry)
    assert (first.wait, second.wait) == (2, 4)
    assert isinstance(third, GaveUp)


def test_a_kind_may_say_that_what_took_too_long_is_not_tried_again() -> None:
    once = replace(KIND, retry_timeouts=False)

    assert isinstance(verdict(Timeout(), kind=once), GaveUp)
    assert isinstance(verdict(Transient("no"), kind=once), Retry)


@pytest.mark.parametrize(
    ("error", "code", "dependency"),
    [
        (StoreUnavailable("S3 is down", dependency="artifacts"), "store_unavailable", "artifacts"),
        (StoreFull("no room"), "store_full", "database"),
        (ArtifactStoreMismatch("another store"), "artifact_store_mismatch", "artifacts"),
    ],
)
def test_a_postponed_attempt_says_which_dependency_could_not_be_used(error: Exception, code: str, dependency: str) -> None:
    outcome = verdict(error)

    assert isinstance(outcome, Postponed)
    assert (outcome.code, outcome.dependency) == (code, dependency)


@pytest.mark.parametrize("error", [StoreUnavailable("S3 is down"), StoreFull("no room"), StoreBusy("busy")])
def test_a_store_that_is_away_is_waited_for_and_costs_no_attempt(error: Exception) -> None:  # I26, found by ./dev chaos
    outcome = verdict(error, failures=2)

    assert isinstance(outcome, Postponed)
    assert outcome.wait == 2.0


class Confused(Backoff):
    def delay(self, failures: int, luck: float) -> float:
        return self.base if self.base != 0 else 1 / self.base


@pytest.mark.parametrize("base", [0.0, -1.0, float("nan"), float("inf"), 1e30])
def test_a_backoff_that_fails_or_says_nonsense_leaves_no_job_hanging(base: float) -> None:
    assert verdict(Transient("no"), kind=replace(KIND, backoff=Confused(base))) == Retry(
        describe_error(a_claim(), Transient("no")), Backoff().delay(1, 0.5)
    )


def test_a_periodic_kind_gets_one_retry() -> None:  # Q34
    twice = replace(KIND, max_attempts=2)
    claim = a_claim()

    assert isinstance(judge(claim, twice, Transient("no"), 0.5), Retry)
    assert isinstance(judge(_with(claim, failures=1, max_attempts=2), twice, Transient("no"), 0.5), GaveUp)


def _with(claim: Claim, **changes: Any) -> Claim:
    return Claim(**{name: changes.get(name, getattr(claim, name)) for name in Claim.__struct_fields__})


def test_no_room_costs_no_attempt_unless_the_kind_says_fail() -> None:  # I15
    assert verdict(Backpressure(retry_after=3)) == Postponed("no room at the moment", 3)
    assert isinstance(verdict(Backpressure(), kind=replace(KIND, on_backpressure="fail")), GaveUp)


def test_being_cancelled_and_being_stopped_are_no_failures() -> None:  # W25
    assert verdict(Cancelled("enough")) == Stopped("enough")
    assert verdict(WorkerStopping()) == Released()


def test_an_error_of_ours_is_told_word_for_word_with_its_place() -> None:
    error = describe_error(a_claim(), SourceInvalid("no bracket", line=3, column=7, excerpt="[x"))

    assert error == {
        "attempt": 1,
        "code": "source_invalid",
        "message": "no bracket",
        "line": 3,
        "column": 7,
        "excerpt": "[x",
    }


def test_an_error_we_did_not_word_is_kept_from_callers_but_not_from_operators() -> None:  # D22
    try:
        raise ValueError("the password is hunter2")
    except ValueError as caught:
        error = describe_error(a_claim(), caught)

    assert "hunter2" not in error["message"]
    assert "hunter2" in error["detail"]


def test_what_another_program_said_is_kept_for_operators_alone() -> None:  # D22
    error = RenderRefused("the render service cannot render this source (422), line 3", line=3)
    error.detail = "their words\0" + "x" * DETAIL_LIMIT

    described = describe_error(a_claim(), error)

    assert described["message"] == "the render service cannot render this source (422), line 3"
    assert (described["code"], described["line"]) == ("render_http_4xx", 3)
    assert described["detail"].startswith("their words\N{REPLACEMENT CHARACTER}")
    assert len(described["detail"]) == DETAIL_LIMIT + 1


def test_a_message_is_bounded_and_can_be_stored() -> None:
    error = describe_error(a_claim(), Transient("\0 \ud800 " + "x" * 10_000))

    assert len(error["message"]) < 2_100
    assert "\0" not in error["message"]
    error["message"].encode()


def raise_with_notes() -> None:
    error = KeyError("missing")
    error.add_note("x" * 5 * DETAIL_LIMIT)
    try:
        raise error
    except KeyError as first:
        raise ValueError("the cause stands in the last line") from first


def test_of_a_long_traceback_the_end_is_kept_because_it_names_the_error() -> None:
    with pytest.raises(ValueError, match="the cause") as caught:
        raise_with_notes()

    detail = describe_error(a_claim(), caught.value)["detail"]

    assert detail.endswith("ValueError: the cause stands in the last line\n")
    assert detail.startswith("…x")
    assert len(detail) == DETAIL_LIMIT + 1


@pytest.mark.parametrize(
    ("text", "keep_end", "kept"),
    [("abc", False, "abc"), ("abc", True, "abc"), ("abcd", False, "abc…"), ("abcd", True, "…bcd")],
)
def test_a_text_is_cut_only_if_it_is_longer_than_its_limit_and_a_mark_says_where(text: str, keep_end: bool, kept: str) -> None:
    assert storable_text(text, 3, keep_end=keep_end) == kept
