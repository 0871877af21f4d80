"""The files of an SQLite database are for our own user: they hold the work and the secrets of every organisation."""

import os
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o007


def make_private_folder(folder: Path) -> None:
    """Create what is missing of a path, for our own user alone. What was there stays as it was."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Create the file with 0600 if it is missing; SQLite gives its `-wal` and `-shm` the same mode.

    Files of an older version lose what all other users may do. A group that was let in on purpose keeps its access.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        return
    for one in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        with suppress(FileNotFoundError, PermissionError):  # of another user, who let us in
            mode = one.stat().st_mode
            if mode & _OTHERS:
                one.chmod(mode & 0o7777 & ~_OTHERS)
