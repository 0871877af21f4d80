"""Figures of a render service, for Prometheus."""

from collections.abc import Iterable

from prometheus_client import Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pressroom.api.metrics import LoopMetrics, PressCollector
from pressroom.renderers.sandbox.engine_pools import EnginePools
from pressroom.submission.fair_slots import FairSlots


class RenderServiceMetrics(LoopMetrics):
    def __init__(self, presses: EnginePools, slots: FairSlots, concurrent: int) -> None:
        super().__init__()
        words = "Renders by the engine that prints and by outcome: completed, cancelled (by the client) or the code of an error"
        self.renders = Counter("pressroom_render_service_renders", words, ["engine", "outcome"], registry=self.registry)
        self.registry.register(PressCollector(lambda: presses))
        self.registry.register(SlotCollector(slots, concurrent))

    def text(self) -> bytes:
        return generate_latest(self.registry)


class SlotCollector(Collector):
    def __init__(self, slots: FairSlots, concurrent: int) -> None:
        self._slots = slots
        self._concurrent = concurrent

    def collect(self) -> Iterable[Metric]:
        busy = self._concurrent - self._slots.free
        return [
            GaugeMetricFamily("pressroom_render_service_slots", "Renders that may run at once", value=self._concurrent),
            GaugeMetricFamily("pressroom_render_service_slots_busy", "Renders that run", value=busy),
            GaugeMetricFamily("pressroom_render_service_waiting", "Requests that wait for a slot", value=self._slots.waiting),
        ]
