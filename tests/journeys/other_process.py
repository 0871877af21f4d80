"""Another process on the same database: a worker with the kinds below, which tells on its output what it does.

Run as `python other_process.py DATABASE [SLOTS]`. On SIGTERM it stops gracefully; tests may also kill it.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from pressroom import Ending, Pressroom, Statement, Tier, kind


def say(*words: object) -> None:
    print(*words, flush=True)


async def until(path: str) -> None:
    while not Path(path).exists():  # noqa: ASYNC110, ASYNC240 - a file is how the test in the other process speaks to us
        await asyncio.sleep(0.005)


def write_page(ending: Ending):
    yield Statement(
        "INSERT INTO page (uid, status, text) VALUES (:uid, :status, :text)",
        {"uid": ending.uid, "status": ending.status, "text": ending.payload["text"]},
    )


@kind("shout")
async def shout(job, payload):
    return payload["text"].upper()


@kind("mark")
async def mark(job, payload):
    """Leave one line in a file for every run, whoever runs it."""
    descriptor = os.open(payload["file"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{job.uid} {os.getpid()}\n".encode())
    os.close(descriptor)


@kind("count", timeout=None)
async def count(job, payload):
    """Three phases of three steps each."""
    for phase in ("one", "two", "three"):
        await job.phase(phase, total=3)
        for _ in range(3):
            await job.step()
    return "counted"


@kind("hold", timeout=None, max_crashes=3, cache_for=timedelta(hours=1), tier=Tier.INTERACTIVE)
async def hold(job, payload):
    say("holding", job.uid)
    await until(payload["until"])
    return payload["text"]


@kind("poison", timeout=None, max_crashes=1, settling=write_page)
async def poison(job, payload):
    say("holding", job.uid)
    await until(payload["until"])


@kind("page", timeout=None, settling=write_page)
async def page(job, payload):
    return payload["text"]


KINDS = [shout, mark, count, hold, poison, page]


async def main(database: str, slots: int) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    async with Pressroom(database, kinds=KINDS, workers=slots, poll_interval=0.01, lease=60):
        say("ready")
        await stopping.wait()
        say("stopping")
    say("stopped")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
