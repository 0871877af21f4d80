"""Durable throughput against the raw limit: submits one by one, submits in bulk, and the drain."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench import limit, ours, place
from bench.figure import Figure
from bench.sizes import Sizes

AGAINST = f"the same SQL in groups of {limit.GROUP}, bare"


def submits(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    path, count = folder / "submits.db", sizes.jobs
    script = limit.script_of_submits(folder, count)
    raw, single, bulk = _take_turns(
        sizes.rounds,
        lambda: _afresh(path, lambda: limit.replay(path, script)),
        lambda: _afresh(path, lambda: asyncio.run(ours.submit_one_by_one(path, count))),
        lambda: _afresh(path, lambda: asyncio.run(ours.submit_many(path, count))),
    )
    yield Figure(f"submit, {ours.CALLERS} callers", count / single, count / raw, "jobs/s", AGAINST, "≥ 0.4")
    yield Figure(f"submit_many of {ours.BULK:,}", count / bulk, count / raw, "jobs/s", AGAINST)


def drain(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    template, count = folder / "full.db", sizes.jobs
    asyncio.run(ours.fill(template, count))
    script = limit.script_of_drain(template)
    raw, drained = _take_turns(
        sizes.rounds,
        lambda: _on_a_copy(template, lambda path: limit.replay(path, script)),
        lambda: _on_a_copy(template, lambda path: asyncio.run(ours.drain(path, count))),
    )
    place.remove(template)
    yield Figure("drain", count / drained, count / raw, "jobs/s", AGAINST, "≥ 0.7")


def _take_turns(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """The median of each, measured in turns."""
    seconds: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for measure, taken in zip(measures, seconds, strict=True):
            gc.collect()  # nobody sweeps up after somebody else
            taken.append(measure())
    return [median(taken) for taken in seconds]


def _afresh(path: Path, measure: Callable[[], float]) -> float:
    place.remove(path)
    try:
        return measure()
    finally:
        place.remove(path)


def _on_a_copy(template: Path, measure: Callable[[Path], float]) -> float:
    path = place.copy_of(template, "copy.db")
    try:
        return measure(path)
    finally:
        place.remove(path)
