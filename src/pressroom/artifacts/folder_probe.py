"""Whether artifacts can be kept in a folder. Makes no folders: one that is missing is made when it is first needed."""

import errno
import os
import secrets
from pathlib import Path

from pressroom.artifacts.os_errors import translate_os_errors

LEAST_SPACE = 1024 * 1024  # bytes
_SAMPLE = b"\0" * 4096


def probe_folder(folder: Path, *, write: bool) -> str:
    """Raises StoreFull, StoreReadOnly or StoreUnavailable. With `write` a small file is written, synced and deleted."""
    folder = folder.absolute()
    existing = next(path for path in (folder / "tmp", folder, *folder.parents) if path.exists())
    with translate_os_errors(f"the artifact folder {folder}"):
        os.scandir(existing).close()
        if not os.access(existing, os.W_OK | os.X_OK):
            raise OSError(errno.EACCES, f"this user may not write to {existing}")
        space = os.statvfs(existing)
        if space.f_flag & os.ST_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        if space.f_bavail * space.f_frsize < LEAST_SPACE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if write:
            _write_sample(existing / f"pressroom-probe-{secrets.token_hex(8)}")
    return str(folder) if folder.exists() else f"{folder}, which is made when it is first needed"


def _write_sample(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, _SAMPLE)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
        path.unlink()
