"""Kills and stops presses, and what they started, while they render for a queue; then looks at what is left."""

import asyncio
import contextlib
import hashlib
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pressroom import Pressroom, Status, Submitted
from pressroom.model import Job
from pressroom.renderers import catalogue
from pressroom.renderers.sandbox.process_tree import FOLDER_PREFIX, process_tree
from tests.reliability import hasty
from tests.reliability.press_sources import ORDERS, name_of, sources_of

MAGIC = {"pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<svg ", "html": b"<"}
TYPED = frozenset({"engine_crashed", "timeout", "too_large"})  # what a killed press may be told as
PAUSE = (0.05, 0.5)  # seconds between two faults
FAULTS_PER_RENDER = 0.7  # at most: on a busy machine a pause is too short for a render to end
FIRST_FAULTS = 4
STOPPED = 0.15  # the share of them that stop a process instead of killing it
SETTLE_WITHIN = 1200.0


@dataclass
class Toll:
    renders: int = 0
    ended: int = 0
    completed: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    stopped: int = 0
    victims: Counter[str] = field(default_factory=Counter)
    stuck: list[str] = field(default_factory=list)
    untyped: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    processes: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def objections(self) -> list[str]:
        reasons = [
            f"{name}: {len(victims)}, such as {', '.join(victims[:3])}"
            for name in ("stuck", "untyped", "unreadable", "processes", "folders")
            if (victims := getattr(self, name))
        ]
        if self.failed["timeout"] > self.killed + self.stopped:
            reasons.append(f"timeout: {self.failed['timeout']}, and only {self.killed + self.stopped} processes were hurt")
        if self.completed < 0.5 * self.renders:
            reasons.append(f"too weak: only {self.completed} of {self.renders} renders were completed")
        if self.killed < self.renders / 50:
            reasons.append(f"too weak: only {self.killed} processes were killed")
        return reasons

    def figures(self) -> dict[str, object]:
        return {
            "renders": self.renders,
            "completed": self.completed,
            **{f"failed_{code}": count for code, count in sorted(self.failed.items())},
            **{name: len(getattr(self, name)) for name in ("stuck", "untyped", "unreadable", "processes", "folders")},
            "killed": self.killed,
            "stopped": self.stopped,
            **{f"hit_{name}": count for name, count in sorted(self.victims.items())},
            "seconds": round(self.seconds),
        }


async def torment(folder: Path, renders: int, seed: int, *, presses: int = 2) -> Toll:
    """Submit so many renders of mixed engines, hurt who renders them, and tell how it went."""
    toll, chance, began = Toll(renders), random.Random(seed), time.monotonic()
    with hasty.catalogue_of_hasty_engines():
        usable = [order for order in ORDERS if catalogue.get_engine(name_of(order)).missing() is None]
        settings = {"presses": presses, "workers": 6}
        async with Pressroom(f"sqlite:///{folder / 'press.db'}", **settings) as press:  # type: ignore[arg-type]
            jobs = [await _submit(press, usable[n % len(usable)], n, chance) for n in range(renders)]
            nemesis = asyncio.create_task(_hurt(chance, toll))
            ended = await _ends(press, jobs, toll)
            nemesis.cancel()
            await asyncio.gather(nemesis, return_exceptions=True)
            await _look_at(press, ended, toll)
    await _look_for_remains(toll)
    toll.seconds = time.monotonic() - began
    return toll


async def _submit(press: Pressroom, order: tuple[str, str, str | None], number: int, chance: random.Random) -> Submitted:
    """Each source is its own: an answer from the cache would render nothing."""
    language, output, engine = order
    source = chance.choice(sources_of(catalogue.get_engine(name_of(order))))
    how = {"title": f"number {number}"}
    return await press.render(language, source, output, options=how, engine=engine)


async def _hurt(chance: random.Random, toll: Toll) -> None:
    while True:
        await asyncio.sleep(chance.uniform(*PAUSE))
        family = process_tree(os.getpid())[1:]
        is_ahead = toll.killed + toll.stopped > FIRST_FAULTS + FAULTS_PER_RENDER * toll.ended
        if is_ahead or not family:
            continue
        victim = chance.choice(family)
        sign = signal.SIGSTOP if chance.random() < STOPPED else signal.SIGKILL
        with contextlib.suppress(OSError):
            name = _name_of(victim)
            os.kill(victim, sign)
            toll.victims["press" if name.startswith("python") else name.replace(" ", "_")] += 1
            if sign == signal.SIGSTOP:
                toll.stopped += 1
            else:
                toll.killed += 1


def _name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


async def _ends(press: Pressroom, jobs: Sequence[Submitted], toll: Toll) -> list[Job]:
    ended = []
    async with asyncio.timeout(None) as limit:
        limit.reschedule(asyncio.get_running_loop().time() + SETTLE_WITHIN + len(jobs))
        for job in jobs:
            try:
                ended.append(await press.wait_until_ended(job))
                toll.ended += 1
            except TimeoutError:
                break
    for job in jobs[len(ended) :]:
        seen = await press.get(job)
        toll.stuck.append(f"{seen.uid} ({seen.status}, {seen.payload['language']})")
    return ended


async def _look_at(press: Pressroom, ended: Sequence[Job], toll: Toll) -> None:
    for job in ended:
        if job.status is Status.COMPLETED:
            toll.completed += 1
            if reason := await _unreadable(press, job):
                toll.unreadable.append(f"{job.uid} ({job.payload['language']}): {reason}")
            continue
        code = job.errors[-1].get("code", "none") if job.errors else "none"
        toll.failed[code] += 1
        if job.status is not Status.FAILED or code not in TYPED or _gave_up_early(job, code):
            toll.untyped.append(f"{job.uid} ({job.payload['language']}, {job.status}, {job.failures} tries): {job.errors[-1:]}")


def _gave_up_early(job: Job, code: str) -> bool:
    return job.failures < job.max_attempts and code not in ("too_large", "timeout")  # neither is retried


async def _unreadable(press: Pressroom, job: Job) -> str | None:
    artifact = await press.artifact(job.result["artifact"])
    data = b"".join([chunk async for chunk in await press.read(artifact)])
    if hashlib.sha256(data).hexdigest() != job.result["sha256"]:
        return "other bytes than were hashed"
    return None if data.lstrip().startswith(MAGIC[job.payload["output"]]) else f"begins with {data[:20]!r}"


async def _look_for_remains(toll: Toll) -> None:
    for _ in range(600):  # what was killed last may need a moment to be gone
        toll.processes, toll.folders = remains_of(os.getpid())
        if not toll.processes and not toll.folders:
            return
        await asyncio.sleep(0.1)


def remains_of(pid: int) -> tuple[list[str], list[str]]:
    """Processes that a process started for its presses, wherever they stand now, and folders that it made for them."""
    mark = f"{FOLDER_PREFIX}{pid}-"
    processes = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in os.readlink(entry / "cwd") or mark.encode() in (entry / "cmdline").read_bytes():
                processes.append(f"{entry.name} {(entry / 'comm').read_text().strip()}")
    return processes, [str(folder) for folder in Path(tempfile.gettempdir()).glob(f"{mark}*")]
