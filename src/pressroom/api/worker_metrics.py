"""What workers count, in Prometheus' format: for the endpoint of a worker process, and for a service with workers inside."""

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from pressroom.worker.counters import DURATION_BUCKETS, DurationHistogram, SlotUsage, WorkerCounters

_BOUNDS = [*map(str, DURATION_BUCKETS), "+Inf"]


class Workers(Protocol):
    """The workers of this process."""

    @property
    def worker_counters(self) -> WorkerCounters: ...

    @property
    def slot_usage(self) -> Mapping[str, SlotUsage]: ...


class WorkerCollector(Collector):
    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def collect(self) -> Iterable[Metric]:
        counters = self._workers.worker_counters
        yield _counter("claims", "Jobs claimed", ["kind"], {(kind,): count for kind, count in counters.claimed.items()})
        yield _counter(
            "claim_statements", "Claims sent to the database, with or without a result", [], _claim_statements(counters)
        )
        yield _counter("settled", "Attempts settled, by outcome", ["kind", "outcome"], counters.settled)
        yield _durations(counters.durations)
        words = "Attempts postponed without costing one, by error code and by the dependency that could not be used"
        yield _counter("postponed", words, ["kind", "reason", "dependency"], counters.postponed)
        lost = {(kind,): count for kind, count in counters.lost_leases.items()}
        yield _counter("lost_leases", "Attempts whose result was refused because their lease was lost", ["kind"], lost)
        words = "Errors of the database, the artifact store, Redis or oban that a worker met"
        yield _counter("dependency_errors", words, ["dependency", "code"], counters.errors())
        yield from self._slots()

    def _slots(self) -> Iterable[Metric]:
        total = GaugeMetricFamily("pressroom_worker_slots", "Jobs that may be in progress at once", labels=["worker"])
        busy = GaugeMetricFamily("pressroom_worker_slots_busy", "Slots that a job holds now", labels=["worker"])
        for name, usage in self._workers.slot_usage.items():
            total.add_metric([name], usage.total)
            busy.add_metric([name], usage.busy)
        return [total, busy]


def _claim_statements(counters: WorkerCounters) -> Mapping[tuple[str, ...], int]:
    return {(): counters.claim_statements}


def _counter[Labels: tuple[str, ...]](name: str, words: str, labels: list[str], values: Mapping[Labels, int]) -> Metric:
    family = CounterMetricFamily(f"pressroom_worker_{name}", words, labels=labels)
    for key, count in values.items():
        family.add_metric(list(key), count)
    return family


def _durations(durations: Mapping[str, DurationHistogram]) -> Metric:
    words = "How long attempts took, whatever their outcome"
    family = HistogramMetricFamily("pressroom_worker_attempt_duration_seconds", words, labels=["kind"])
    for kind, histogram in durations.items():
        buckets = list(zip(_BOUNDS, map(float, accumulate(histogram.counts)), strict=True))
        family.add_metric([kind], buckets, histogram.total_seconds)
    return family
