"""Where the bench keeps its databases while it runs.

Beside the project, on the disk that it lives on: a temporary folder of the machine may be in memory, and a commit that
waits for no disk says nothing about a durable queue.
"""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, also when the bench is told to end half way: there may be a gigabyte in it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended before all was measured"))
    cache = ROOT / ".cache"
    cache.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=cache) as folder:
        yield Path(folder)


def copy_of(template: Path, name: str) -> Path:
    """A database to spoil. It is on the disk before this returns, so that its writing is not measured with what follows."""
    copy = template.with_name(name)
    shutil.copyfile(template, copy)
    with copy.open("rb+") as file:
        os.fsync(file.fileno())
    return copy


def remove(database: Path) -> None:
    """The file and what SQLite puts beside it."""
    for suffix in ("", "-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
