"""Figures for Prometheus. Base units, bounded labels, and never the id of a job."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pressroom.api.loop_watchdog import Hold
from pressroom.model import VERSION
from pressroom.renderers.sandbox.engine_pools import EnginePools
from pressroom.store.operators.stats import QueueStats

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class RequestDurations:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Histogram(
            "pressroom_http_request_duration_seconds",
            "Requests",
            ["route", "method", "status"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._series: dict[tuple[str, str, int], Histogram] = {}  # finding one by its labels is slower

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        series = self._series.get((route, method, status))
        if series is None:
            series = self._series[route, method, status] = self._requests.labels(route, method, str(status))
        series.observe(seconds)


class LoopMetrics(RequestDurations):
    """Of any service: its requests, what held its event loop, and its version."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        super().__init__(self.registry)
        self.loop_holds = Counter(
            "pressroom_event_loop_holds", "Callbacks that held the event loop for more than 250 ms", registry=self.registry
        )
        self._held = Counter("pressroom_event_loop_held_seconds", "How long they held it", registry=self.registry)
        self._longest_hold = Gauge(
            "pressroom_event_loop_longest_hold_cpu_seconds", "Most processor time that one of them used", registry=self.registry
        )
        self._longest = 0.0
        add_build_info(self.registry)

    def loop_was_held(self, hold: Hold) -> None:
        self._held.inc(hold.seconds)
        self._longest = max(self._longest, hold.cpu)
        self._longest_hold.set(self._longest)


class Metrics(LoopMetrics):
    """Of a service with a queue. `workers` are the figures of the workers inside, if there are any."""

    def __init__(self, workers: Collector | None = None) -> None:
        super().__init__()
        if workers is not None:
            self.registry.register(workers)
        self.submitted = Counter(
            "pressroom_jobs_submitted", "Jobs submitted over HTTP", ["kind", "dedup"], registry=self.registry
        )
        self.cache = Counter(
            "pressroom_cache_requests", "Renders asked for, by how they were answered", ["result"], registry=self.registry
        )
        self.streams = Gauge("pressroom_sse_clients", "Open event streams", registry=self.registry)

    def text(self, stats: QueueStats, presses: EnginePools) -> bytes:
        live = CollectorRegistry()
        live.register(_QueueCollector(stats))
        live.register(PressCollector(lambda: presses))
        return generate_latest(self.registry) + generate_latest(live)


def add_build_info(registry: CollectorRegistry) -> None:
    Gauge("pressroom_build_info", "The version that runs", ["version"], registry=registry).labels(VERSION).set(1)


class PressCollector(Collector):
    """The processes that render for this one."""

    def __init__(self, presses: Callable[[], EnginePools]) -> None:
        self._presses = presses

    def collect(self) -> Iterable[Metric]:
        processes = GaugeMetricFamily("pressroom_renderer_processes", "EnginePools", labels=["renderer", "state"])
        for name, pool in self._presses().pools().items():
            busy = sum(bool(press.waiting) for press in pool.processes)
            processes.add_metric([name, "busy"], busy)
            processes.add_metric([name, "idle"], len(pool.processes) - busy)
        return [processes]


class _QueueCollector(Collector):
    """The whole queue, as the database has it now."""

    def __init__(self, stats: QueueStats) -> None:
        self._stats = stats

    def collect(self) -> Iterable[Metric]:
        jobs = GaugeMetricFamily("pressroom_jobs", "Open jobs", labels=["queue", "tier", "state"])
        waited = "How long the oldest job that may start has waited"
        oldest = GaugeMetricFamily("pressroom_queue_oldest_age_seconds", waited, labels=["queue"])
        ages: dict[str, float] = {}
        for line in self._stats.backlog:
            jobs.add_metric([line.kind, line.tier.name.lower(), "queued"], line.queued)
            age = 0.0 if line.ready_since is None else (self._stats.at - line.ready_since).total_seconds()
            ages[line.kind] = max(ages.get(line.kind, 0.0), age)
        for kind, age in ages.items():
            oldest.add_metric([kind], age)
        for running in self._stats.running:
            jobs.add_metric([running.kind, "any", "in_progress"], running.running)
        ended = GaugeMetricFamily(
            "pressroom_jobs_ended_last_hour", "Jobs that ended in the last hour", labels=["kind", "outcome"]
        )
        totals: dict[tuple[str, str], int] = {}
        for one in self._stats.ended:
            totals[one.kind, one.status.value] = totals.get((one.kind, one.status.value), 0) + one.count
        for (kind, outcome), count in totals.items():
            ended.add_metric([kind, outcome], count)
        uncovered = GaugeMetricFamily(
            "pressroom_jobs_without_worker",
            "Jobs that have been ready for a minute and whose kind no running worker takes",
            labels=["queue"],
        )
        for late in self._stats.without_worker:
            uncovered.add_metric([late.kind], late.ready)
        workers = GaugeMetricFamily("pressroom_workers", "Workers that run, in all processes", value=self._stats.workers)
        alerts = GaugeMetricFamily("pressroom_alerts_open", "Alerts that wait for a person", value=self._stats.open_alerts)
        return [jobs, oldest, ended, uncovered, workers, alerts]
