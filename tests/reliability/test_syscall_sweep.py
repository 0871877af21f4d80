"""Whatever system call the machine stops at: what was acknowledged is there, and every job ends once."""

import asyncio
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from pressroom import Pressroom
from pressroom.clock import SystemClock
from tests.depth import by_depth
from tests.reliability import checker, dump, founder, journal
from tests.reliability.checker import Verdict
from tests.reliability.journal import Journal, Line
from tests.reliability.lab import AHEAD
from tests.reliability.stage import drained, until
from tests.reliability.sweep import COUNT
from tests.reliability.workload import LEASE, Handlers, place_at

ROOT = Path(__file__).parents[2]

# Each sweep: a story, the call to strike at, the first and every which one after it. SQLite writes a page of its log in
# two calls, header and content: an odd step meets both. Two sweeps run at a time.
KILLS = [
    ("write", "pwrite64", 1, 3),
    ("write", "pwrite64", 2, 3),
    ("open", "pwrite64", 1, 7),  # the tables of all apps
    ("close", "pwrite64", 1, 1),
    ("write", "fdatasync", 1, 1),
    ("open", "fdatasync", 1, 1),
    ("close", "fdatasync", 1, 1),
    ("open", "ftruncate", 1, 1),
    ("close", "ftruncate", 1, 1),
]

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed; it is what stops the program at an exact system call"
)


class AheadClock(SystemClock):
    """What comes after need not wait for delays and retries."""

    def now_ms(self) -> int:
        return super().now_ms() + int(AHEAD * 1000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    asyncio.run(founder.run(place_at(f"sqlite:///{tmp_path / 'template.db'}"), Journal(tmp_path / "template.jsonl")))
    return tmp_path


def sweep(folder: Path, injection: str, story: str, syscall: str, first: int, step: int, last: int = 0) -> dict[str, int]:
    """How each victim ended, by the name of its place."""
    # The filter makes strace stop at these calls only. It cannot be used to send signals.
    quicker = ["--seccomp-bpf"] if injection.startswith("error=") else []
    strace = ["strace", "-f", *quicker, "-qq", "-o", "/dev/null", "-e", f"trace={syscall}"]
    strace += ["-e", f"inject={syscall}:{injection}:when={COUNT}"]
    argv = [sys.executable, "-m", "tests.reliability.sweep", str(folder), story, syscall]
    argv += map(str, (first, step, last))
    done = subprocess.run([*strace, *argv], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {place: int(status) for place, status in (line.split() for line in done.stdout.splitlines())}


def finish_all(places: list[Path]) -> None:
    """Let somebody come after every victim, a few at a time: most of it is waiting for the disk."""
    few = asyncio.Semaphore(8)

    async def finish_in_turn(place: Path) -> None:
        async with few:
            await finish(place)

    async def together() -> None:
        await asyncio.gather(*map(finish_in_turn, places))

    asyncio.run(together())


async def finish(place: Path) -> None:
    """Make what tables are missing, and do all that was left undone."""
    url = f"sqlite:///{place / 'press.db'}"
    with closing(Journal(place / "journal.jsonl")) as notes:
        if place.name.startswith("open"):
            await founder.run(place_at(url), notes)
        async with Pressroom(url, kinds=Handlers(notes).kinds(), workers=4, lease=LEASE, clock=AheadClock()) as press:
            await until(lambda: drained(press))


def judge(place: Path) -> tuple[list[Line], Verdict]:
    lines = journal.load(place / "journal.jsonl")
    return lines, checker.judge(lines, dump.read(place / "press.db"))


@pytest.mark.deep
def test_no_system_call_is_a_bad_moment_to_die(folder: Path) -> None:
    """I1, I3, I6: acknowledged is there, whole is whole, ended is ended once."""
    with ThreadPoolExecutor(2) as pool:
        swept = list(pool.map(lambda kill: sweep(folder, "signal=SIGKILL", *kill), KILLS))

    for statuses in swept:
        *killed, survivor = statuses.values()
        assert set(killed) <= {-9}
        assert survivor == 0, f"the story makes more than the {COUNT} calls of {list(statuses)[-1]}"
    places = [folder / name for statuses in swept for name in statuses]
    assert len(places) >= 200
    finish_all(places)
    for place in places:
        _, verdict = judge(place)
        assert verdict.clean, f"{place}: {verdict.offences}"


@pytest.mark.parametrize(
    ("syscall", "errno", "code", "calls"),
    [
        ("fdatasync", "EIO", "store_unavailable", by_depth((4, 4, 8), (1, 1, 8))),
        ("pwrite64", "ENOSPC", "store_full", by_depth((65, 65, 130), (5, 13, 150))),
    ],
)
def test_a_disk_that_refuses_is_told_as_such_and_leaves_nothing_half_written(
    folder: Path, syscall: str, errno: str, code: str, calls: tuple[int, int, int]
) -> None:
    """I1: what was refused is not there, what was acknowledged is."""
    anywhere = sweep(folder, f"error={errno}", "write", syscall, *calls)
    at_a_submit = sweep(folder, f"error={errno}", "submit", syscall, 1, 1, 3)
    places = [folder / name for name in (*anywhere, *at_a_submit)]

    finish_all(places)
    refusals = set()
    for place in places:
        lines, verdict = judge(place)
        assert verdict.clean, f"{place}: {verdict.offences}"
        refusals |= {line.data["code"] for line in lines if line.type == "fail" and line.do == "submit"}
    assert refusals == {code}
