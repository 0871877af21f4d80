"""Who may still write to an SQLite file: workers that left their card in it, and processes that have it open."""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw

from pressroom.clock import SystemClock
from pressroom.model import Row
from pressroom.store.engine.sqlite_connection import SqliteErrors
from pressroom.worker.process import is_alive, is_dead, is_simulated


def find_writers(path: str, *, exclude_self: bool = False) -> list[str]:
    """A name for each, for people. `exclude_self` leaves out this process, which has the file open itself."""
    return [*_workers(path), *_processes(path, exclude_self=exclude_self)]


def _workers(path: str) -> Iterator[str]:
    with SqliteErrors(path), closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        cards: list[Row] = connection.execute("SELECT uid, process, seen_at + lease FROM worker ORDER BY uid").fetchall()
    now = SystemClock().now_ms()
    for uid, process, silent_at in cards:
        if is_simulated(process):
            continue
        # On another machine, or in another container, a process is known only by what it wrote.
        if is_alive(process) or (not is_dead(process) and silent_at > now):
            yield f"worker {uid}"


def _processes(path: str, *, exclude_self: bool) -> Iterator[str]:
    """Those that we may see. One that we may not is kept out by the lock, and by the mark afterwards."""
    file = os.stat(path)
    for folder in Path("/proc").glob("[0-9]*"):
        if exclude_self and folder.name == str(os.getpid()):
            continue
        with suppress(OSError):  # it ended, or belongs to another user
            if any(_may_write(opened, file) for opened in (folder / "fd").iterdir()):
                yield f"process {folder.name} ({(folder / 'comm').read_text(encoding='utf-8', errors='replace').strip()})"


def _may_write(opened: Path, file: os.stat_result) -> bool:
    """Looked at without being opened: closing a file drops all locks of the process that has it open twice."""
    try:
        if not os.path.samestat(opened.stat(), file):
            return False
        about = (opened.parent.parent / "fdinfo" / opened.name).read_text(encoding="utf-8")
    except OSError:
        return False
    flags = int(about.partition("flags:")[2].split()[0], 8)
    return flags & os.O_ACCMODE != os.O_RDONLY
