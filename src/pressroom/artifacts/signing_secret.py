"""The secret of an artifact folder, with which its links are signed. Only our own user may read it."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pressroom.errors import StoreUnavailable

SIZE = 32

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def create_private_file(path: Path) -> BinaryIO:
    """A new file that only our own user may read."""
    return os.fdopen(os.open(path, _CREATE, 0o600), "wb")


def load_or_create_secret(root: Path) -> bytes:
    """Created once, by the first process that needs it."""
    path = root / "secret"
    if not path.exists():
        _create_secret(path, root / "tmp" / secrets.token_hex(16))
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        secret = file.read()
    if len(secret) != SIZE:
        message = f"{path} does not hold a secret; remove it, and links given so far stop working"
        raise StoreUnavailable(message, dependency="artifacts")
    return secret


def _create_secret(path: Path, temporary: Path) -> None:
    with create_private_file(temporary) as file:
        file.write(secrets.token_bytes(SIZE))
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(temporary, path)  # not rename: a neighbour's secret, already in use, must not be replaced
    temporary.unlink()
