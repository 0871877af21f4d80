"""Prometheus' text, read as a monitoring system reads it."""

import httpx
from prometheus_client.parser import text_string_to_metric_families


class Figures:
    def __init__(self, text: str) -> None:
        self.text = text
        self._samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]

    def total(self, name: str, **labels: str) -> float:
        """The sum of all samples with this name and these labels; 0 if there are none."""
        wanted = labels.items()
        return sum(one.value for one in self._samples if one.name == f"pressroom_{name}" and wanted <= one.labels.items())

    def label_names(self) -> set[str]:
        return {name for sample in self._samples for name in sample.labels}

    def label_values(self) -> set[str]:
        return {value for sample in self._samples for value in sample.labels.values()}


async def scrape(url: str) -> Figures:
    async with httpx.AsyncClient(timeout=120, trust_env=False) as client:
        answer = await client.get(url)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return Figures(answer.text)
