"""How a drain grows with worker processes of ours: `python -m bench.scale_processes embedded PROCESSES COUNT`.

The queue is paused until all of them stand ready: starting Python takes as long as draining does.
"""

import asyncio
import json
import os
import sys
import time
from typing import Any

import psycopg

from bench import scale_ours
from bench.peers.course import POSTGRES, Meter
from pressroom.cli.work import SWITCH_INTERVAL

COUNT, WORKER = sys.argv[-1], "worker"


async def _drain(processes: int, count: int) -> dict[str, Any]:
    async with scale_ours.press(_noop, works=False) as press:
        await press.pause(scale_ours.NOOP)
        workers = [await _start() for _ in range(processes)]
        said = await asyncio.gather(*(worker.stdout.readline() for worker in workers))
        if not all(said):
            raise RuntimeError("a worker ended before it was ready")
        meter = Meter()
        tallies: list[dict[str, Any]] = [{} for _ in workers]
        watching = [asyncio.create_task(_watch(*one)) for one in zip(workers, tallies, strict=True)]
        await press.resume(scale_ours.NOOP)
        while sum(tally.get("settled", 0) for tally in tallies) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        server = meter.read()["server"]
    for worker, watch in zip(workers, watching, strict=True):
        watch.cancel()
        worker.kill()
        await worker.wait()
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        assert scale_ours.count_open(connection) == 0
    worked = [tally for tally in tallies if tally]
    seconds = max(tally["at"] for tally in worked) - min(tally["first"] for tally in worked)
    return {"seconds": seconds, "client": sum(tally["cpu"] for tally in worked), "server": server}


async def _start() -> Any:
    command = [sys.executable, *sys.orig_argv[1:-2], WORKER, COUNT]
    return await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)


async def _watch(worker: Any, tally: dict[str, Any]) -> None:
    while line := await worker.stdout.readline():
        tally |= json.loads(line)


async def _noop(job: Any, payload: Any) -> None:
    return None


async def _work() -> None:
    first = 0.0
    meter = Meter()

    async def handle(job: Any, payload: Any) -> None:
        nonlocal first, meter
        if not first:
            first, meter = time.perf_counter(), Meter()

    sys.setswitchinterval(SWITCH_INTERVAL)
    async with scale_ours.press(handle, works=True) as press:
        assert press.worker is not None
        _say({})
        settled = 0
        while True:
            await asyncio.sleep(0.003)
            if press.worker.counts.settled > settled:
                settled = press.worker.counts.settled
                _say({"settled": settled, "first": first, "at": time.perf_counter(), "cpu": meter.read()["client"]})


def _say(said: dict[str, Any]) -> None:
    os.write(1, json.dumps(said).encode() + b"\n")


if __name__ == "__main__":
    if sys.argv[-2] == WORKER:
        asyncio.run(_work())
    else:
        print(json.dumps(asyncio.run(_drain(int(sys.argv[-2]), int(COUNT)))))
