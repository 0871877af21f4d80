"""Who runs the course: ours by each delivery, the raw limit, and the peers, each a program that prints one line of JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from bench import place

PATIENCE = 300.0  # seconds for one part
PEERS = place.ROOT / "bench" / "peers"


class Failed(Exception):
    """A queue could not be installed or could not run. The reason is for the table."""


@dataclass(frozen=True)
class Row:
    """`share` is the part of the jobs that it is given: as many as the fast ones drain would take a slow one minutes."""

    name: str
    store: str
    program: Callable[[], list[str]]
    share: float = 1.0
    peer: bool = True

    def run(self, part: str, count: int, environ: dict[str, str]) -> dict[str, Any]:
        return run([*self.program(), part, str(count)], environ)


def run(command: list[str], environ: dict[str, str]) -> dict[str, Any]:
    try:
        ended = subprocess.run(
            command, cwd=place.ROOT, env=os.environ | environ, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"did not finish {' '.join(command[-2:])} within {PATIENCE:g} s") from None
    if ended.returncode != 0:
        raise Failed(_last_line(ended.stderr) or f"ended with {ended.returncode}")
    answer: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return answer


def _last_line(text: str) -> str:
    return next((line.strip()[:200] for line in reversed(text.splitlines()) if line.strip()), "")


def ours(delivery: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, "-m", "bench.scale_ours", delivery]


def _limit() -> list[str]:
    return [sys.executable, "-m", "bench.scale_limit"]


def _peer(file: str, *options: str, environment: str = "peers-queues") -> Callable[[], list[str]]:
    return lambda: [_interpreter(environment), str(PEERS / file), *options]


@cache
def _interpreter(environment: str) -> str:
    """Of the environment that `./dev` keeps for these peers, made if need be."""
    made = subprocess.run([str(place.ROOT / "dev"), "environment", environment], capture_output=True, text=True)
    if made.returncode != 0:
        raise Failed(f"cannot be installed: {_why(made.stderr)}")
    return made.stdout.strip()


def _why(said: str) -> str:
    """An installer says a lot. That no compiler was found is what a reader can do something about."""
    telling = (line.strip() for line in said.splitlines() if "error" in line.lower() or "g++" in line or "c++" in line)
    return next(telling, _last_line(said))[:200]


EMBEDDED, REDIS, OBAN, LIMIT, BARE_OBAN = "embedded", "redis", "oban", "limit", "oban-py"
POSTGRES_ONLY = "PostgreSQL"
ROWS = [
    Row(EMBEDDED, POSTGRES_ONLY, ours("embedded"), peer=False),
    Row(REDIS, "PostgreSQL and Valkey", ours("redis"), peer=False),
    Row(OBAN, POSTGRES_ONLY, ours("oban"), peer=False),
    Row(LIMIT, POSTGRES_ONLY, _limit, peer=False),
    Row(BARE_OBAN, POSTGRES_ONLY, _peer("oban_queue.py", environment="peers-oban"), share=0.5),
    Row("procrastinate", POSTGRES_ONLY, _peer("procrastinate_queue.py"), share=0.15),
    Row("pgqueuer", POSTGRES_ONLY, _peer("pgqueuer_queue.py")),
    Row("awa", POSTGRES_ONLY, _peer("awa_queue.py"), share=0.5),
    Row("saq", POSTGRES_ONLY, _peer("saq_queue.py", "postgres"), share=0.15),
    Row("saq-redis", "Valkey", _peer("saq_queue.py", "redis"), share=0.25),
    Row("arq", "Valkey", _peer("arq_queue.py"), share=0.25),
    Row("streaq", "Valkey", _peer("streaq_queue.py"), share=0.25),
    Row("celery", "Valkey", _peer("celery_queue.py"), share=0.25),
]


def chosen(only: Iterable[str], *, peers: bool) -> list[Row]:
    names = set(only)
    return [row for row in ROWS if (row.name in names if names else peers or not row.peer)]
