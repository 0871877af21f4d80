"""An engine process and its descendants: find them, measure their memory, kill all of them."""

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

FOLDER_PREFIX = "pressroom-press-"


def process_tree(pid: int) -> list[int]:
    """A process and all that it started, as Linux tells it."""
    pids = [pid]
    for member in pids:
        with contextlib.suppress(OSError, ValueError):
            pids += map(int, Path(f"/proc/{member}/task/{member}/children").read_text(encoding="utf-8").split())
    return pids


def memory_of(pids: Sequence[int]) -> int:
    """Resident memory, counting pages that several of them share only where they are counted as files: an upper bound."""
    total = 0
    page = os.sysconf("SC_PAGE_SIZE")
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()
            total += (int(fields[1]) - int(fields[2])) * page
    return total


def kill_process_tree(pid: int) -> None:
    """The whole process group, and descendants that left it."""
    pids = process_tree(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for member in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def remove_stale_folders() -> int:
    """Remove what engine processes of dead processes left behind: a process that is killed cannot tidy up."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        owner = folder.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if owner.isdigit() and not _is_alive(int(owner)) and folder.lstat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
    return removed


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
