"""Real processes to torment. They are forked from a lab that has imported everything: a fresh Python takes a third of a
second to start, and a lab that kills seven processes a second would do nothing else."""

import asyncio
import contextlib
import ctypes
import faulthandler
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pressroom import failpoints

type Role = Callable[[asyncio.Event], Coroutine[Any, Any, None]]

_PR_SET_PDEATHSIG = 1


@dataclass
class Victim:
    pid: int
    ended: int | None = None  # how, as waitpid tells: negative for a signal

    def signal(self, number: signal.Signals) -> None:
        if not self.has_ended():
            os.kill(self.pid, number)

    def has_ended(self) -> bool:
        if self.ended is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.ended = os.waitstatus_to_exitcode(status)
        return self.ended is not None

    def show_stacks(self) -> None:
        """Have it write where its tasks and threads are to its log: it hangs."""
        self.signal(signal.SIGUSR2)
        for _ in range(20):
            if self.has_ended():
                return
            time.sleep(0.1)

    def wait(self) -> None:
        if self.ended is None:
            self.ended = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def fork(act: Callable[[], int]) -> Victim:
    """Do something in a process of its own, which ends with the status that it returns. The caller must be single-threaded."""
    lab = os.getpid()
    pid = os.fork()
    if pid:
        return Victim(pid)
    status = 1
    try:
        _leave_no_orphans(lab)
        signal.signal(signal.SIGUSR2, _write_stacks)
        status = act()
    except BaseException:
        logging.getLogger("lab").exception("a role broke")
        traceback.print_exc()
    finally:
        os._exit(status)


def start(role: Role, log: Path, *, spec: str = "", clock_ahead: float = 0.0) -> Victim:
    """Run a role in a process of its own, with failpoints armed."""

    def act() -> int:
        logging.basicConfig(filename=log, level=logging.WARNING, format="%(asctime)s %(process)d %(name)s %(message)s")
        os.environ["PRESSROOM_CLOCK_OFFSET"] = str(clock_ahead)
        failpoints.arm(spec)  # PRESSROOM_FAILPOINTS is read at import, which was before the fork
        asyncio.run(_until_terminated(role))
        return 0

    return fork(act)


async def _until_terminated(role: Role) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    await role(stopping)


def _write_stacks(*_: object) -> None:
    print(f"process {os.getpid()} hangs", file=sys.stderr)
    with contextlib.suppress(RuntimeError):  # no event loop runs
        for task in asyncio.all_tasks():
            task.print_stack(file=sys.stderr)
    faulthandler.dump_traceback(file=2, all_threads=True)


def _leave_no_orphans(lab: int) -> None:
    """Whoever kills the lab wants it gone with all that it started, the paused ones too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != lab:
        os._exit(1)
