"""What a worker counts: few labels, each thing once, and no id of a job."""

import threading

import pytest

from pressroom.errors import StoreBusy
from pressroom.model import Claim, GaveUp, Outcome, Postponed, Released, Retry, Status, Stopped, Succeeded
from pressroom.store.jobs.endings import Settled
from pressroom.worker.counters import DURATION_BUCKETS, WorkerCounters


def settled(outcome: Outcome, status: Status | None) -> Settled:
    numbers = dict.fromkeys(("id", "tier", "seq", "token", "version", "failures", "max_attempts", "crashes"), 1)
    unset = {name: None for name in Claim.__struct_fields__ if name not in (*numbers, "uid", "kind", "payload")}
    claim = Claim(uid="01JD", kind="pdf", payload="{}", **numbers, **unset)  # type: ignore[arg-type]
    return Settled(claim, outcome, status)


@pytest.mark.parametrize(
    ("outcome", "status", "label"),
    [
        (Succeeded("1"), Status.COMPLETED, "completed"),
        (GaveUp({}), Status.FAILED, "failed"),
        (Stopped("cancelled"), Status.CANCELLED, "cancelled"),
        (Retry({}, 1.0), Status.QUEUED, "retried"),
        (Retry({}, 1.0), Status.CANCELLED, "cancelled"),  # a newer payload took over
        (Postponed("no room", 1.0), Status.QUEUED, "postponed"),
        (Released(), Status.QUEUED, "released"),
    ],
)
def test_an_attempt_is_counted_by_its_kind_and_by_what_became_of_its_job(outcome: Outcome, status: Status, label: str) -> None:
    counters = WorkerCounters()

    counters.count_settled(settled(outcome, status))

    assert counters.settled == {("pdf", label): 1}


def test_a_postponed_attempt_is_counted_with_its_reason_unless_its_job_did_not_go_back_to_the_queue() -> None:
    counters = WorkerCounters()

    counters.count_settled(settled(Postponed("full", 1.0, "store_full", "artifacts"), Status.QUEUED))
    counters.count_settled(settled(Postponed("no room", 1.0), Status.QUEUED))
    counters.count_settled(settled(Postponed("no room", 1.0), Status.CANCELLED))

    assert counters.postponed == {("pdf", "store_full", "artifacts"): 1, ("pdf", "backpressure", ""): 1}


def test_a_result_that_was_refused_is_a_lost_lease_and_settles_nothing() -> None:
    counters = WorkerCounters()

    counters.count_settled(settled(Succeeded("1"), None))

    assert counters.lost_leases == {"pdf": 1}
    assert counters.settled == {}


def test_a_duration_falls_into_the_first_bucket_that_holds_it() -> None:
    counters = WorkerCounters()
    counters.add_kinds(["pdf"])

    for seconds in (0.0, DURATION_BUCKETS[0], DURATION_BUCKETS[0] + 0.001, DURATION_BUCKETS[-1] + 1):
        counters.count_attempt("pdf", seconds)

    counts = counters.durations["pdf"].counts
    assert (counts[0], counts[1], counts[-1], sum(counts)) == (2, 1, 1, 4)


def test_a_kind_starts_at_zero_and_keeps_its_figures_when_another_worker_takes_it_too() -> None:
    counters = WorkerCounters()
    counters.add_kinds(["pdf"])
    assert (counters.claimed["pdf"], counters.lost_leases["pdf"], [*counters.durations]) == (0, 0, ["pdf"])

    counters.claimed["pdf"] += 1
    counters.count_attempt("pdf", 1.0)
    counters.add_kinds(["pdf", "webhook"])

    assert counters.claimed == {"pdf": 1, "webhook": 0}
    assert sum(counters.durations["pdf"].counts) == 1


def test_errors_of_dependencies_are_counted_by_code_from_any_thread() -> None:
    counters = WorkerCounters()

    def fail() -> None:
        for _ in range(1000):
            counters.count_database_error(StoreBusy("locked"))

    threads = [threading.Thread(target=fail) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counters.count_error("redis", "redis_unreachable")
    counters.count_error("oban", OSError("away"))

    assert counters.errors() == {
        ("database", "store_busy"): 4000,
        ("redis", "redis_unreachable"): 1,
        ("oban", "unexpected"): 1,
    }
