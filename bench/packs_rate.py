"""Documents of packs beside the engines that print them, called in a bare loop; and one document while a batch is printed.

Packs of ten: the documents of `examples/packs`, some of them several times.
"""

import asyncio
import json
import os
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench import place
from bench.figure import Figure, quantile
from bench.wiki_press import Spent, measured
from pressroom import Pressroom, Status
from pressroom.apps.packs.config.folders import read_config_folder
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.apps.packs.config.registry import parse_registry
from pressroom.apps.packs.model import PackDraft
from pressroom.apps.packs.renders import make_request
from pressroom.renderers import documents
from pressroom.renderers.sandbox.engine_pools import EnginePools
from tests.render_service.stage import TOKEN, on_stage

EXAMPLE = Path(__file__).parents[1] / "examples" / "packs"
COPIES = {"offer": 4, "invoice": 2, "certificate": 4}
BARE = "the engines in a loop, one process"
SINGLE = "offer-0"
LOOK_EVERY = 0.1  # seconds


def configuration() -> dict[str, str]:
    texts = read_config_folder(EXAMPLE)
    entries = {entry["doc_id"]: entry for entry in json.loads(texts[REGISTRY])}
    copies = [
        entries[doc_id] | {"doc_id": f"{doc_id}-{number}", "template": doc_id}
        for doc_id, count in COPIES.items()
        for number in range(count)
    ]
    return texts | {REGISTRY: json.dumps(copies)}


def draft(number: int = 0) -> PackDraft:
    data = json.loads((EXAMPLE / "data.json").read_text())
    data["person"]["name"] = f"Anna Example {number}"
    return PackDraft(data=data, lang="de", title=f"Pack {number}")


def rates(folder: Path, packs: int, rounds: int) -> Iterator[Figure]:
    """Documents in a second, and milliseconds of a core for each: the second is what a busy machine disturbs least."""
    sides: dict[str, list[Spent]] = defaultdict(list)
    for _ in range(rounds):
        sides[BARE].append(in_a_loop(packs))
        sides["in this process"].append(asyncio.run(_through_queue(folder / "packs.db", packs, None)))
        sides["by a render service"].append(asyncio.run(_through_service(folder / "packs.db", packs)))
    rate = {name: median(one.rate for one in spent) for name, spent in sides.items()}
    core = {name: median(one.core for one in spent) for name, spent in sides.items()}
    for name in [name for name in sides if name != BARE]:
        load = f"{BARE}; load {os.getloadavg()[0]:.0f}"
        yield Figure(f"packs of ten, {name}", rate[name], rate[BARE], "documents/s", load, ">= 0.7")
        yield Figure(f"  in a second of a core, {name}", 1000 / core[name], 1000 / core[BARE], "documents", BARE, ">= 0.7")


def in_a_loop(packs: int) -> Spent:
    bodies, wanted = configuration(), draft()
    plans = [
        documents.make_plan(make_request(entry, bodies, wanted.data, wanted.lang)) for entry in parse_registry(bodies[REGISTRY])
    ]
    engines = {engine: engine() for plan in plans for engine in (plan.reader, plan.printer) if engine is not None}

    def render(plan: documents.RenderPlan) -> None:
        assert plan.printer is not None
        page = _call(engines[plan.reader], plan.request.source, plan.output, plan.options)
        _call(engines[plan.printer], page, "pdf", plan.print_options or {})

    for plan in plans:
        render(plan)
    with measured(packs * len(plans)) as spent:
        for _ in range(packs):
            for plan in plans:
                render(plan)
    return spent


def _call(engine: Any, source: bytes, output: str, options: dict[str, Any]) -> bytes:
    data: bytes = engine.render(source.decode(), output, msgspec.convert(options, engine.Options)).data
    return data


async def _through_queue(path: Path, packs: int, presses: EnginePools | None, **settings: Any) -> Spent:
    async with _opened(path, **settings) as press:
        ids = [await _new_pack(press, number) for number in range(packs)]
        with measured(packs * sum(COPIES.values()), presses or press.rendering.presses) as spent:
            for pack in ids:
                await press.app("packs").packs.render_all(None, pack, requested_by="bench")
            await _until_idle(press)
    return spent


async def _through_service(path: Path, packs: int) -> Spent:
    async with on_stage(concurrent=10, presses=os.cpu_count() or 1, render_token=TOKEN) as service:
        return await _through_queue(path, packs, service.service.presses, render_url=service.url, render_token=TOKEN)


def interactive(folder: Path, packs: int, singles: int) -> Iterator[Figure]:
    """From the call to the end of the job of one document, while background renders wait for longer than is measured."""
    idle, busy, left = asyncio.run(_beside_a_batch(folder / "packs.db", packs, singles))
    against = f"while nothing else goes on; {left} documents were left; load {os.getloadavg()[0]:.0f}"
    for part, aim in ((0.5, "<= 2"), (0.9, "")):
        ours, other = quantile(busy, part) * 1000, quantile(idle, part) * 1000
        yield Figure(f"one document while {packs} packs are printed, p{part * 100:.0f}", ours, other, "ms", against, aim)


async def _beside_a_batch(path: Path, packs: int, singles: int) -> tuple[Sequence[float], Sequence[float], int]:
    async with _opened(path, grace=0.0) as press:
        single = await _new_pack(press, 0)
        ids = [await _new_pack(press, number) for number in range(1, packs + 1)]
        idle = [await _seconds_of_one(press, single) for _ in range(singles)]
        for pack in ids:
            await press.app("packs").packs.render_all(None, pack, requested_by="bench")
        busy = [await _seconds_of_one(press, single) for _ in range(singles)]
        left = (await press.queue.stats()).queued
    return idle, busy, left


async def _seconds_of_one(press: Pressroom, pack: str) -> float:
    started = time.perf_counter()
    answer = await press.app("packs").packs.render_one(None, pack, SINGLE, requested_by="bench")
    await press.wait_until_ended(answer.jobs[0].job_uid)
    return time.perf_counter() - started


@asynccontextmanager
async def _opened(path: Path, **settings: Any) -> AsyncIterator[Pressroom]:
    """A database of its own, with warm presses."""
    async with AsyncExitStack() as ending:
        ending.callback(place.remove, path)
        press = await ending.enter_async_context(Pressroom(f"sqlite:///{path}", **settings))
        await press.app("packs").configuration.put_many(None, configuration(), author="bench")
        await press.app("packs").packs.render_all(None, await _new_pack(press, 10_000), requested_by="bench")
        await _until_idle(press)
        yield press


async def _new_pack(press: Pressroom, number: int) -> str:
    pack_id: str = (await press.app("packs").packs.create(None, draft(number), "bench")).id
    return pack_id


async def _until_idle(press: Pressroom) -> None:
    """By looking for jobs that are not over, and seldom: the looks are measured too."""
    while (await press.list(status=[Status.QUEUED, Status.IN_PROGRESS], limit=1)).jobs:  # noqa: ASYNC110
        await asyncio.sleep(LOOK_EVERY)
