"""The same renders through a press and in the process that asks, in turns.

The presses are warm, and so is the engine beside them. On one core the asking process and its press share it. There a second is
one that either of them was on the core: on a busy machine two processes are given twice the time of one, and by the clock the
box would seem to gain by it. On two cores there are two presses, and only the clock can tell whether they work side by side.
"""

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench import engines_cores, engines_sources
from bench.engines import EngineSizes
from bench.figure import Figure, quantile
from pressroom.renderers import Engine
from pressroom.renderers.markdown.engine import Markdown
from pressroom.renderers.mermaid.engine import Mermaid
from pressroom.renderers.sandbox.engine_pools import EnginePools

CALLERS = 32
DIRECT = "the engine called directly"
AIMS = {("2 KB", 1): "≥ 0.5", ("50 KB", 1): "≥ 0.8", ("2 KB", 2): "near 1", ("50 KB", 2): "near 1.6"}


def markdown(folder: Path, sizes: EngineSizes) -> Iterator[Figure]:
    for name, length in engines_sources.LENGTHS.items():
        sources = [engines_sources.markdown(length)]
        for cores in (1, 2):
            if engines_cores.there_are(cores):
                yield _compare(Markdown, "html", {}, sources, cores, sizes, f"Markdown {name}", AIMS.get((name, cores), ""))


def mermaid(folder: Path, sizes: EngineSizes) -> Iterator[Figure]:
    sources = engines_sources.mermaid()
    for cores in (1, 2):
        if engines_cores.there_are(cores):
            yield _compare(Mermaid, "svg", {"theme": "light"}, sources, cores, sizes, f"{len(sources)} Mermaid examples", "")


def _compare(
    engine: type[Engine],
    output: str,
    options: dict[str, Any],
    sources: Sequence[str],
    cores: int,
    sizes: EngineSizes,
    name: str,
    aim: str,
) -> Figure:
    contest = Contest(engine, output, options, sources, cores, sizes)
    boxed, direct = asyncio.run(contest.rounds())
    ratios = [ours / other for ours, other in zip(boxed, direct, strict=True)]
    spread = f"quartiles {quantile(ratios, 0.25):.2f} to {quantile(ratios, 0.75):.2f}"
    where = "1 press, 1 core" if cores == 1 else f"{cores} presses, {cores} cores"
    return Figure(f"{name}, {where}", median(boxed), median(direct), "renders/s", f"{DIRECT}; {spread}", aim)


class Contest:
    def __init__(
        self,
        engine: type[Engine],
        output: str,
        options: dict[str, Any],
        sources: Sequence[str],
        cores: int,
        sizes: EngineSizes,
    ) -> None:
        self._engine, self._output, self._options, self._sources = engine, output, options, sources
        self._cores, self._sizes = cores, sizes
        self._inside, self._chosen = engine(), msgspec.convert(options, engine.Options)
        self._presses = EnginePools(cores)

    async def rounds(self) -> tuple[list[float], list[float]]:
        boxed, direct = [], []
        work = self._a_round()
        with engines_cores.only(self._cores):
            try:
                await self._boxed(work)  # the presses start
                for _ in range(self._sizes.rounds):
                    boxed.append(await self._boxed(work))
                    with engines_cores.only(1):
                        direct.append(self._directly(work))
            finally:
                await self._presses.close()
                self._inside.close()
        return boxed, direct

    def _a_round(self) -> list[str]:
        """All sources equally often, so that both sides have the same to do, and as often as time allows."""
        for _ in range(2):  # the first time is not like the others
            rate = self._directly(self._sources)
        return [*self._sources] * max(self._cores, round(self._sizes.seconds * rate / len(self._sources)))

    async def _boxed(self, work: Sequence[str]) -> float:
        """Renders in a second, while callers each wait for theirs and ask for the next."""
        left = iter([source.encode() for source in work])

        async def call() -> None:
            for source in left:
                await self._presses.render(self._engine, source, self._output, self._options)

        started = self._now()
        await asyncio.gather(*(call() for _ in range(CALLERS)))
        return len(work) / (self._now() - started)

    def _directly(self, work: Sequence[str]) -> float:
        started = self._now()
        for source in work:
            self._inside.render(source, self._output, self._chosen)
        return len(work) / (self._now() - started)

    def _now(self) -> float:
        if self._cores > 1:
            return time.perf_counter()
        pools = self._presses.pools().values()
        return engines_cores.spent([os.getpid(), *(press.pid for pool in pools for press in pool.processes)])
