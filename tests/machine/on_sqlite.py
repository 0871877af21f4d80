"""Stories on SQLite: in memory, until somebody is killed and the files must show what they hold."""

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pressroom.model import Work
from pressroom.store.jobs import kinds as kind_rows
from pressroom.testing import SteppedStore
from tests.machine.kinds import make_kinds
from tests.machine.mirror import SqliteMirror
from tests.machine.stages import START, Clock, Killed, killed_after

MEMORY = Path("/dev/shm")


class OnSqlite:
    """A `Stage`."""

    dialect = "sqlite"
    has_concurrent_writers = False

    def __init__(self, guards: Sequence[str] = ()) -> None:
        """Without these guards; see broken.py."""
        shelf = _shelf()
        self.clock = shelf.clock
        self._store = shelf.take()
        for guard in guards:
            self._store.raw.execute(f"DROP {guard}")
        self._as_others = not guards
        self.mirror = SqliteMirror(self._store.raw)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._starts = 0

    def run[T](self, work: Work[T], *, shared_lock: bool = False) -> T:
        return self._store.run(work)

    def rehearse[T](self, work: Work[T]) -> T:
        seen: list[T] = []
        with suppress(_Rehearsed):
            self._store.run(_broken_off(work, seen))
        return seen[0]

    def kill(self, work: Work[object], statements: int) -> None:
        if self._folder is None:
            self._move_to_disk()
        old, new = self._path(self._starts), self._path(self._starts + 1)
        files = [(old, new), (old.with_suffix(".db-wal"), new.with_suffix(".db-wal"))]
        with suppress(Killed):
            self._store.run(killed_after(statements, work, lambda: _copy(files)))
        self._store.close()
        self._starts += 1
        self._open(new)

    def _move_to_disk(self) -> None:
        self._folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None, prefix="pressroom-machine-")
        self._path(0).write_bytes(self._store.raw.serialize("main"))
        self._open(self._path(0))

    def _path(self, starts: int) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / f"{starts}.db"

    def _open(self, path: Path) -> None:
        self._store = SteppedStore(self.clock, str(path))
        self._store.raw.execute("PRAGMA synchronous = OFF")  # tmpfs has nothing to sync, and asking costs
        self.mirror.attach(self._store.raw)

    def close(self, *, as_found: bool) -> None:
        if self._folder is not None:
            self._store.close()
            self._folder.cleanup()
        elif as_found and self._as_others:
            _shelf().give_back()


class _Rehearsed(Exception):
    """It was not meant."""


def _broken_off[T](work: Work[T], seen: list[T]) -> Work[None]:
    seen.append((yield from work))
    raise _Rehearsed


def _copy(files: Sequence[tuple[Path, Path]]) -> None:
    for old, new in files:
        if old.exists():
            shutil.copyfile(old, new)


class _Shelf:
    """One database in memory for all stories. Emptying it costs less than to make another and prepare every statement anew."""

    def __init__(self) -> None:
        self.clock = Clock()
        self._store = SteppedStore(self.clock)
        self._store.run(kind_rows.register(make_kinds(lambda _: None)))
        self._template = self._store.raw.serialize("main")
        self._empty = True

    def take(self) -> SteppedStore:
        self.clock.now = START
        if not self._empty:
            self._store.raw.deserialize("main", self._template)
        self._empty = False
        return self._store

    def give_back(self) -> None:
        """Empty it. Only for a database in which every job has ended: the tables refuse to forget an open one."""
        self._store.raw.execute(_FORGET)
        self._empty = True


_FORGET = """
BEGIN;
DELETE FROM alert;
DELETE FROM render_cache; DELETE FROM job_item; DELETE FROM job_input; DELETE FROM job_payload; DELETE FROM job_event;
DELETE FROM job; DELETE FROM schedule_tick; DELETE FROM schedule; DELETE FROM sqlite_sequence;
UPDATE sequence SET value = 0; UPDATE kind SET paused = 0, slots = NULL;
COMMIT
"""


@cache
def _shelf() -> _Shelf:
    return _Shelf()
