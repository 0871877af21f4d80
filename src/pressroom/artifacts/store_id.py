"""The id of an artifact store, kept in the store itself: it stays when a folder is moved, or a bucket gets another address."""

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from pressroom.artifacts.os_errors import translate_os_errors
from pressroom.artifacts.signing_secret import create_private_file
from pressroom.errors import StoreUnavailable

NAME = "pressroom-store-id"  # of the file in the folder, and of the object in the bucket

_ID = re.compile(r"[0-9A-Z]{26}")


def parse_id(data: bytes, place: str) -> str:
    text = data.decode(errors="replace").strip()
    if not _ID.fullmatch(text):
        raise StoreUnavailable(f"{place} does not hold the id of an artifact store", dependency="artifacts")
    return text


def read_folder_id(root: Path) -> str | None:
    """None if the folder has no id, or is not there. Makes nothing."""
    path = root / NAME
    with translate_os_errors(str(path)):
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                data = file.read(100)
        except (FileNotFoundError, NotADirectoryError):
            return None
    return parse_id(data, str(path))


def create_folder_id(root: Path, new_id: str) -> None:
    """Does nothing if there is one."""
    temporary = root / "tmp" / secrets.token_hex(16)
    with create_private_file(temporary) as file:
        file.write(f"{new_id}\n".encode())
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(temporary, root / NAME)  # not rename: an id that another process made must not be replaced
    temporary.unlink()
