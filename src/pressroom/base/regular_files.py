"""Files that others may have placed in our way: links that lead elsewhere, pipes that never end, devices."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # opening a pipe without a writer would otherwise block
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NotRegular(OSError):
    """It is there, and is a folder, a pipe, a device or a socket; or a link where none may be."""

    def __init__(self, path: Path, problem: str = "not a regular file") -> None:
        super().__init__(None, problem, str(path))


def read_regular(path: Path, *, follow: bool = False) -> bytes:
    """The bytes of a regular file. `follow` lets the path itself be a link to one. Raises OSError."""
    if not follow and path.is_symlink():
        raise NotRegular(path, "a symbolic link")
    with os.fdopen(os.open(path, _READ | (0 if follow else os.O_NOFOLLOW)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegular(path)
        return file.read()


def write_below(root: Path, parts: tuple[str, ...], data: bytes) -> None:
    """Write a file some folders below `root`, through no link. What lies there is replaced, if it is a regular file.

    Each folder is opened from the one before it, so that a link that is put there meanwhile is not followed either.
    """
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for depth, name in enumerate(parts[:-1], 1):
            deeper = _open_or_create_folder(folder, name, root.joinpath(*parts[:depth]))
            os.close(folder)
            folder = deeper
        _replace_file(folder, parts[-1], root.joinpath(*parts), data)
    finally:
        os.close(folder)


def _open_or_create_folder(parent: int, name: str, path: Path) -> int:
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except OSError:
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise NotRegular(path, "a symbolic link") from None
        raise


def _replace_file(folder: int, name: str, path: Path, data: bytes) -> None:
    with suppress(FileNotFoundError):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            raise NotRegular(path, "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file")
    temporary = f".{secrets.token_hex(8)}.tmp"
    try:
        with os.fdopen(os.open(temporary, _NEW, 0o666, dir_fd=folder), "wb") as file:
            file.write(data)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
