"""The processes of a press, seen from outside: who belongs to it, what they hold, and how all of them end."""

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

FOLDER_PREFIX = "pressroom-press-"


def family_of(pid: int) -> list[int]:
    """A process and all that it started, as Linux tells it."""
    family = [pid]
    for member in family:
        with contextlib.suppress(OSError, ValueError):
            family += map(int, Path(f"/proc/{member}/task/{member}/children").read_text(encoding="utf-8").split())
    return family


def memory_of(family: Sequence[int]) -> int:
    """Resident memory, counting pages that several of them share only where they are counted as files: an upper bound."""
    total = 0
    page = os.sysconf("SC_PAGE_SIZE")
    for pid in family:
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()
            total += (int(fields[1]) - int(fields[2])) * page
    return total


def kill_family(pid: int) -> None:
    """The whole process group, and whoever left the group."""
    family = family_of(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for member in family:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def sweep_folders() -> int:
    """Remove what presses of dead processes left behind: a process that is killed cannot tidy up."""
    swept = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        owner = folder.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if owner.isdigit() and not _alive(int(owner)) and folder.lstat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)
                swept += 1
    return swept


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
