"""Takes every row through the course, in turns, so that whatever else the machine does falls on all of them."""

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.figure import quantile, say
from bench.scale_rows import Failed, Row, ours, run
from bench.scale_servers import Servers

PROCESSES = (1, 2, 4)
SINGLES = 1_000
PICK_UPS = 150


@dataclass
class Measured:
    """What one row came to, over all rounds. A rate is jobs in a second; what was not measured is None."""

    name: str
    store: str
    rates: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)  # seconds a drained job, of the client and of the servers
    waits: list[float] = field(default_factory=list)
    missing: str = ""

    def note(self, part: str, count: int, answer: dict[str, Any]) -> None:
        if "waits" in answer:
            self.waits += answer["waits"]
        elif answer and answer.get("wide", True):
            self.rates.setdefault(part, []).append(count / answer["seconds"])
        if part == "drain":
            for whose in ("client", "server"):
                self.cpu.setdefault(whose, []).append(answer[whose] / count)

    def rate(self, part: str) -> float | None:
        return statistics.median(self.rates[part]) if self.rates.get(part) else None

    def cost(self, whose: str) -> float | None:
        """Microseconds a job."""
        return statistics.median(self.cpu[whose]) * 1e6 if self.cpu.get(whose) else None

    def wait(self, part: float) -> float | None:
        """Milliseconds."""
        return quantile(self.waits, part) * 1e3 if self.waits else None


def measure(servers: Servers, rows: Sequence[Row], jobs: int, rounds: int, *, drain_only: bool) -> list[Measured]:
    measured = {row.name: Measured(row.name, row.store) for row in rows}
    for turn in range(rounds):
        for row in [*rows[turn % len(rows) :], *rows[: turn % len(rows)]] if rows else []:
            result = measured[row.name]
            if result.missing:
                continue
            try:
                _once(servers, row, result, jobs, drain_only=drain_only)
            except Failed as reason:
                result.missing = str(reason)
            say(f"  round {turn + 1} of {rounds}, {row.name}: {_in_short(result)}")
    return list(measured.values())


def _once(servers: Servers, row: Row, result: Measured, jobs: int, *, drain_only: bool) -> None:
    jobs = max(100, int(jobs * row.share))
    singles = 0 if drain_only else min(SINGLES, jobs // 4)
    with servers.afresh() as environ:
        row.run("prepare", 0, environ)
        parts = {"single": singles, "bulk": jobs - singles, "drain": jobs, "pickup": 0 if drain_only else PICK_UPS}
        for part, count in parts.items():
            if count:
                result.note(part, count, row.run(part, count, environ))


def processes(servers: Servers, jobs: int, rounds: int) -> list[Measured]:
    """The drain by one, two and four worker processes of ours."""
    measured = {number: Measured(f"{number} worker process{'es' if number > 1 else ''}", "PostgreSQL") for number in PROCESSES}
    for turn in range(rounds):
        for number, result in measured.items():
            program = [sys.executable, "-m", "bench.scale_processes", "embedded", str(number), str(jobs)]
            try:
                with servers.afresh() as environ:
                    run([*ours("embedded")(), "bulk", str(jobs)], environ)
                    result.note("drain", jobs, run(program, environ))
            except Failed as reason:
                result.missing = str(reason)
            say(f"  round {turn + 1} of {rounds}, {result.name}: {_in_short(result)}")
    return list(measured.values())


def _in_short(result: Measured) -> str:
    return result.missing or ", ".join(f"{part} {rates[-1]:,.0f}/s" for part, rates in result.rates.items())
