"""The same drain in other queues that keep their jobs in SQLite."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench import ours, place
from bench.figure import Figure, say
from bench.job import PAYLOAD_TEXT
from bench.sizes import Sizes


def drain(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    python = os.environ.get("PRESSROOM_PEERS_PYTHON")
    if python is None:
        say("  PRESSROOM_PEERS_PYTHON names no interpreter with the peers; `./dev bench` sets it. Leaving them out.")
        return
    template = folder / "full.db"
    asyncio.run(ours.fill(template, sizes.jobs))
    our, huey, careless, dbos = [], [], [], []
    for _ in range(sizes.peer_rounds):
        our.append(_drain_ours(template, sizes.jobs))
        huey.append(_drain(python, "huey_drain.py", folder, sizes.huey_jobs, "fsync"))
        our.append(_drain_ours(template, sizes.jobs))
        careless.append(_drain(python, "huey_drain.py", folder, sizes.huey_jobs, "no fsync"))
        our.append(_drain_ours(template, sizes.jobs))
        dbos.append(_drain(python, "dbos_drain.py", folder, sizes.dbos_jobs))
    place.remove(template)
    against = (
        ("huey", huey, "huey on SQLite, durable"),
        ("huey without fsync", careless, "huey on SQLite, which a power failure may set back"),
        ("DBOS", dbos, "DBOS on SQLite, durable"),
    )
    for name, theirs, what in against:
        yield Figure(f"drain, {name}", median(our), median(theirs), "jobs/s", what, "≥ 12")


def _drain_ours(template: Path, count: int) -> float:
    path = place.copy_of(template, "copy.db")
    seconds = asyncio.run(ours.drain(path, count))
    place.remove(path)
    return count / seconds


def _drain(python: str, program: str, folder: Path, count: int, *options: str) -> float:
    with TemporaryDirectory(dir=folder) as own:
        command = [python, str(Path(__file__).parent / "peers" / program), own, str(count), PAYLOAD_TEXT, *options]
        finished = subprocess.run(command, check=True, capture_output=True, text=True, cwd=own)
    return count / float(finished.stdout.splitlines()[-1])
