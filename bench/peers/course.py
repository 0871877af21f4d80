"""The course that every queue runs, ours and the raw limit too, one part of it for each run of the queue's program:

    python bench/peers/arq_queue.py PART COUNT

| part | what is done | what is printed, as one line of JSON |
|---|---|---|
| `prepare` | its tables are made | `{}` |
| `single` | one caller submits COUNT jobs, each when the last is accepted | `seconds`, and CPU of `client` and `server` |
| `bulk` | COUNT jobs by the widest door it has | the same |
| `drain` | a worker runs COUNT jobs that wait for it | the same, from the first handler until the store has all as done |
| `pickup` | COUNT jobs, one at a time, for an idle worker in another process | `waits`: seconds from submit to handler |

The servers are named by BENCH_POSTGRES and BENCH_REDIS, and their processes by BENCH_SERVERS. Nothing here is of any queue, and
nothing is needed but Python.
"""

import asyncio
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

POSTGRES = os.environ.get("BENCH_POSTGRES", "")
REDIS = os.environ.get("BENCH_REDIS", "")
PAYLOAD = {"text": "x" * (1024 - len('{"text":""}'))}
BULK = 1_000  # jobs in one call of the wide door
WARM_UP = 20
PATIENCE = 20.0  # seconds after which a pick-up counts as lost
TICK = os.sysconf("SC_CLK_TCK")


class Queue:
    """What a queue must be able to do. Its handler calls `begun` and does nothing else."""

    begun: Callable[[], None]
    wide_door = True  # whether `submit_many` is more than many submits
    quick_loop = True  # uvloop, which ours does without

    async def open(self) -> None: ...

    async def prepare(self) -> None: ...

    async def submit(self) -> None:
        raise NotImplementedError

    async def submit_many(self, count: int) -> None:
        raise NotImplementedError

    async def work(self) -> None:
        """Run a worker until cancelled."""
        raise NotImplementedError

    async def left(self) -> int:
        """How many jobs the store does not yet have as done."""
        raise NotImplementedError


def run(queue: Queue) -> None:
    part, count = sys.argv[-2], int(sys.argv[-1])
    parts: dict[str, Callable[[Queue, int], Coroutine[Any, Any, dict[str, Any]]]] = {
        "prepare": _prepare,
        "single": _single,
        "bulk": _bulk,
        "drain": _drain,
        "pickup": _pickup,
        "work": _work,
    }

    answer = os.dup(1)
    os.dup2(2, 1)  # a banner that a queue prints is no answer

    async def and_tell() -> None:
        os.write(answer, json.dumps(await parts[part](queue, count)).encode() + b"\n")
        os._exit(0)  # how long a queue takes to stop is not asked

    if queue.quick_loop:
        import uvloop

        uvloop.run(and_tell())
    else:
        asyncio.run(and_tell())


async def _prepare(queue: Queue, count: int) -> dict[str, Any]:
    await queue.prepare()
    return {}


async def _single(queue: Queue, count: int) -> dict[str, Any]:
    await queue.open()
    meter = Meter()
    for _ in range(count):
        await queue.submit()
    return meter.read()


async def _bulk(queue: Queue, count: int) -> dict[str, Any]:
    await queue.open()
    meter = Meter()
    for start in range(0, count, BULK):
        await queue.submit_many(min(BULK, count - start))
    return meter.read() | {"wide": queue.wide_door}


async def _drain(queue: Queue, count: int) -> dict[str, Any]:
    meter: Meter | None = None
    done, loop, all_begun = 0, asyncio.get_running_loop(), asyncio.Event()

    def begun() -> None:
        nonlocal done, meter
        meter = meter or Meter()
        done += 1
        if done == count:
            loop.call_soon_threadsafe(all_begun.set)  # a handler may run in a thread

    queue.begun = begun
    await queue.open()
    await _unless_it_fails(asyncio.create_task(queue.work()), all_begun.wait())
    while await queue.left():  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    assert meter is not None
    return meter.read()


async def _pickup(queue: Queue, count: int) -> dict[str, Any]:
    await queue.open()
    waits = []
    with _worker_elsewhere() as heard:
        for _ in range(WARM_UP + count):
            # Uneven, so that no beat of the worker is always met or always missed.
            await asyncio.sleep(random.uniform(0.01, 0.03))
            submitted = time.perf_counter()
            await queue.submit()
            waits.append(await asyncio.to_thread(heard) - submitted)
    return {"waits": waits[WARM_UP:]}


async def _work(queue: Queue, count: int) -> dict[str, Any]:
    """The worker of a pick-up. What it says goes through a pipe; both processes read the same clock."""
    pipe = int(os.environ["BENCH_PIPE"])

    def begun() -> None:
        os.write(pipe, struct.pack("d", time.perf_counter()))

    queue.begun = begun
    await queue.open()
    await queue.work()
    return {}


@contextmanager
def _worker_elsewhere() -> Iterator[Callable[[], float]]:
    reader, writer = os.pipe()
    command = [sys.executable, *sys.orig_argv[1:-2], "work", "0"]
    environ = os.environ | {"BENCH_PIPE": str(writer)}
    worker = subprocess.Popen(command, env=environ, pass_fds=[writer], stdout=subprocess.DEVNULL)
    os.close(writer)

    def heard() -> float:
        if not select.select([reader], [], [], PATIENCE)[0]:
            raise TimeoutError(f"no worker took a job within {PATIENCE:g} s")
        said = os.read(reader, 8)
        if not said:
            raise RuntimeError("the worker ended")
        return float(struct.unpack("d", said)[0])

    try:
        yield heard
    finally:
        worker.kill()
        worker.wait()
        os.close(reader)


async def _unless_it_fails(working: "asyncio.Task[None]", wanted: Coroutine[Any, Any, Any]) -> None:
    waiting = asyncio.ensure_future(wanted)
    await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        working.result()
        raise RuntimeError("the worker ended before its jobs")


class Meter:
    """Seconds by the clock, and on a core: of this process, and of all the servers."""

    def __init__(self) -> None:
        self._begun = self._now()

    def read(self) -> dict[str, Any]:
        clock, client, server = (now - begun for now, begun in zip(self._now(), self._begun, strict=True))
        return {"seconds": clock, "client": client, "server": server}

    @staticmethod
    def _now() -> tuple[float, float, float]:
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return time.perf_counter(), own, sum(_of_server(int(pid)) for pid in os.environ.get("BENCH_SERVERS", "").split())


def _of_server(pid: int) -> float:
    """Of a server and its children: those that ended have been added to it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(_ticks(pid, 4)) / TICK + sum(sum(_ticks(int(child), 2)) for child in children) / TICK


def _ticks(pid: int, fields: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return [int(one) for one in text.rpartition(")")[2].split()[11 : 11 + fields]]
