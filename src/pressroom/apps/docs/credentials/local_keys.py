"""Credentials encrypted by keys of a file that only our own user may read: AES-256-GCM, with the organisation as
associated data.

Each line of the file is a version of the key: `1:` and 32 bytes in Base64. The last one encrypts; older ones are kept, because
what they encrypted may be in a backup.
"""

import base64
import binascii
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pressroom.apps.docs.credentials.ciphers import version_of
from pressroom.apps.docs.errors import KeysUnavailable
from pressroom.artifacts.threads import in_thread
from pressroom.base.regular_files import read_regular
from pressroom.errors import CannotUnseal, PackageMissing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class LocalKeys:
    """`file` None keeps the keys in memory, for a database that is there too. Without `creates` the first key is made by
    `rotate` only: processes on other machines would not have one that came about by itself."""

    has_key_per_org = False

    def __init__(self, file: Path | None, *, creates: bool) -> None:
        self._file = file
        self._creates = creates
        self._in_memory: dict[int, bytes] = {}

    async def encrypt(self, org: str, plaintext: bytes) -> str:
        keys = await in_thread(self._load_or_create)
        return _encrypt(max(keys), keys[max(keys)], org, plaintext)

    async def decrypt(self, org: str, ciphertext: str) -> bytes:
        return _decrypt(await in_thread(self._load), org, ciphertext)

    async def newest_version(self, org: str) -> int:  # noqa: ARG002
        return max(await in_thread(self._load), default=0)

    async def rewrap(self, org: str, ciphertext: str) -> str:
        keys = await in_thread(self._load)
        plaintext = _decrypt(keys, org, ciphertext)
        return _encrypt(max(keys), keys[max(keys)], org, plaintext)

    async def rotate(self, org: str | None, *, above: int = 0) -> int:  # noqa: ARG002
        return max(await in_thread(lambda: self._add_version(above=above)))

    async def close(self) -> None:
        return None

    def _load(self) -> dict[int, bytes]:
        if self._file is None:
            return self._in_memory
        try:
            return _parse(_read_private(self._file), self._file)
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as reason:
            raise KeysUnavailable(f"the keys in {self._file} cannot be read: {type(reason).__name__}") from None

    def _load_or_create(self) -> dict[int, bytes]:
        if keys := self._load():
            return keys
        if not self._creates:
            raise KeysUnavailable(
                "there are no keys for credentials yet; make some with `pressroom docs keys rotate`, give every process the "
                "same file (PRESSROOM_DOCS_KEYRING), or set vault_addr"
            )
        return self._add_version(only_first=True)

    def _add_version(self, *, only_first: bool = False, above: int = 0) -> dict[int, bytes]:
        """Of two processes that come at once, one waits for the other."""
        if self._file is None:
            if not (only_first and self._in_memory):
                self._in_memory[max(above, *self._in_memory, 0) + 1] = secrets.token_bytes(KEY_BYTES)
            return self._in_memory
        try:
            with _exclusive(self._file.with_name(f"{self._file.name}.lock")):
                keys = self._load()
                if not (only_first and keys):
                    keys[max(above, *keys, 0) + 1] = secrets.token_bytes(KEY_BYTES)
                    _replace_private(self._file, _format(keys))
                return keys
        except OSError as reason:
            raise KeysUnavailable(f"the keys in {self._file} cannot be written: {reason.strerror}") from None


def _encrypt(version: int, key: bytes, org: str, plaintext: bytes) -> str:
    nonce = secrets.token_bytes(NONCE_BYTES)
    sealed = nonce + _aes(key).encrypt(nonce, plaintext, _associated_data(org))
    return f"vault:v{version}:{base64.b64encode(sealed).decode()}"


def _decrypt(keys: dict[int, bytes], org: str, ciphertext: str) -> bytes:
    from cryptography.exceptions import InvalidTag

    version = version_of(ciphertext)
    if version not in keys:
        raise CannotUnseal(f"a credential was encrypted with version {version} of the key, which this process does not have")
    try:
        sealed = base64.b64decode(ciphertext.split(":", 2)[2], validate=True)
        return _aes(keys[version]).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _associated_data(org))
    except (InvalidTag, binascii.Error, ValueError):
        raise CannotUnseal(f"a credential of {org} was changed, is another organisation's, or is of other keys") from None


def _aes(key: bytes) -> "AESGCM":
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise PackageMissing("cryptography", "docs") from None
    return AESGCM(key)


def _associated_data(org: str) -> bytes:
    return f"pressroom docs credential {org}".encode()


def _parse(text: str, file: Path) -> dict[int, bytes]:
    keys: dict[int, bytes] = {}
    for line in text.split():
        number, _, encoded = line.partition(":")
        try:
            keys[int(number)] = base64.b64decode(encoded, validate=True)
        except (ValueError, binascii.Error):
            keys[0] = b""
    if 0 in keys or any(len(key) != KEY_BYTES for key in keys.values()):
        raise KeysUnavailable(f"{file} does not hold keys of {KEY_BYTES} bytes, one a line, as 1:BASE64")
    return keys


def _format(keys: dict[int, bytes]) -> str:
    return "".join(f"{number}:{base64.b64encode(keys[number]).decode()}\n" for number in sorted(keys))


def _read_private(file: Path) -> str:
    mode = file.lstat().st_mode
    if stat.S_ISREG(mode) and mode & 0o077:
        raise KeysUnavailable(f"others may read the keys in {file}; make it private (chmod 600)")
    return read_regular(file).decode("ascii")


def _replace_private(file: Path, text: str) -> None:
    """On stable storage before anything is encrypted with the new key. What a rotation that was killed has left is removed: the
    caller has the lock."""
    temporary = file.with_name(f".{file.name}.new")
    temporary.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(temporary, _CREATE, 0o600), "w", encoding="ascii") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        temporary.replace(file)
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _exclusive(lock: Path) -> Iterator[None]:
    descriptor = os.open(lock, _LOCK, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
