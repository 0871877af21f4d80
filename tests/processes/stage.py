"""Several real processes on one database: `pressroom work` and `pressroom serve`, as an operator starts them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pressroom import Pressroom
from pressroom.app import BUILT_IN
from tests.processes.kinds import KINDS

ROOT = Path(__file__).parents[2]


def here(database: str, *, workers: int | None = None, **options: Any) -> Pressroom:
    return Pressroom(database, kinds=KINDS, apps=BUILT_IN, workers=workers, poll_interval=0.02, **options)


class Process:
    """A command that runs until the block ends. `told` is the first thing that it says: then it is at work."""

    def __init__(self, database: str, folder: Path, *arguments: str, **environ: str) -> None:
        self._command = [sys.executable, "-m", "pressroom", *arguments, "--database", database, "--json"]
        usual = {"PRESSROOM_POLL_INTERVAL": "0.02", "PRESSROOM_LEASE": "60", "PRESSROOM_ARTIFACTS": str(folder / "artifacts")}
        path = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PRESSROOM_IMPORTS": "tests.processes.kinds"}
        self._environ = os.environ | usual | path | environ
        self._folder = folder

    def begin(self) -> "Process":
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, text=True, env=self._environ, cwd=self._folder, start_new_session=True
        )
        return self

    def ready(self) -> "Process":
        line = self._process.stdout.readline()
        assert line, f"{self._command} ended before it was ready"
        self.told = json.loads(line)
        return self

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def ask_to_stop(self) -> None:
        self._process.terminate()

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        return self._process.wait()

    def stop(self) -> int:
        self.ask_to_stop()
        return self.wait()

    def end(self) -> None:
        if self._process.poll() is None:
            self.kill()
        self._process.stdout.close()


type Start = Callable[..., Process]


@contextmanager
def starting(database: str, folder: Path) -> Iterator[Start]:
    """`start("work", "--slots", "2")` begins another; with `wait=False` before it is ready."""
    with ExitStack() as running:

        def start(*arguments: str, wait: bool = True, **environ: str) -> Process:
            process = Process(database, folder, *arguments, **environ).begin()
            running.callback(process.end)
            return process.ready() if wait else process

        yield start


def most_at_once(log: Path) -> int:
    """Of the jobs that said when they began and ended, how many there ever were between the two."""
    inside = most = 0
    for line in log.read_text().splitlines():
        inside += {"+": 1, "-": -1}[line[0]]
        most = max(most, inside)
    return most


def pids(log: Path) -> set[int]:
    return {int(line.rpartition(" ")[2]) for line in log.read_text().splitlines()}
