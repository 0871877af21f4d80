"""Secrets that must be read again are encrypted in the database: a copy of it alone does not give them away.

The key is the setting `secret_key`, or a file beside the database that only our own user may read. docs/decisions.md says why
this is HMAC-SHA256 of the standard library: as a keystream in counter mode, and over the result (encrypt, then authenticate).
"""

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pressroom.base.regular_files import read_regular
from pressroom.config import SHORTEST_KEY, Settings
from pressroom.errors import CannotUnseal, StoreUnavailable

SEALED = "sealed:"

_FORMAT = f"{SEALED}1:"
_NONCE, _TAG = 16, 32
_BLOCK = hashlib.sha256().digest_size
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Key:
    """`text` is what the setting or the file holds."""

    text: str

    @cached_property
    def id(self) -> str:
        return self._derive("id")[:4].hex()

    def keystream(self, nonce: bytes, length: int) -> bytes:
        blocks = range(-(-length // _BLOCK))
        stream = b"".join(hmac.digest(self._derive("encrypt"), nonce + number.to_bytes(8), "sha256") for number in blocks)
        return stream[:length]

    def tag(self, context: str, nonce: bytes, encrypted: bytes) -> bytes:
        named = context.encode()
        return hmac.digest(self._derive("authenticate"), len(named).to_bytes(8) + named + nonce + encrypted, "sha256")

    def _derive(self, purpose: str) -> bytes:
        return hmac.digest(self.text.encode(), f"pressroom sealing 1 {purpose}".encode(), "sha256")


class Keyring:
    """Seals with the first key, and opens what any of them sealed. Without a key, text is stored as it is.

    `file` holds the key if none is given; with `creates` it is made when something is first sealed. `context` says what the
    text is and whose: what was sealed for one row cannot be opened in another.
    """

    def __init__(self, keys: Sequence[str] = (), *, file: Path | None = None, creates: bool = False) -> None:
        self._keys = [Key(text) for text in keys]
        self._file = file
        self._creates = creates

    @property
    def can_seal(self) -> bool:
        return self._creates or bool(self._load_keys())

    @property
    def prefix(self) -> str:
        """How text begins that needs no sealing any more."""
        keys = self._load_keys()
        return f"{_FORMAT}{keys[0].id}:" if keys else SEALED

    def seal(self, text: str, context: str) -> str:
        keys = self._load_keys(create=self._creates)
        if not keys:
            return text
        nonce, plain = secrets.token_bytes(_NONCE), text.encode()
        encrypted = _xor(plain, keys[0].keystream(nonce, len(plain)))
        sealed = nonce + encrypted + keys[0].tag(context, nonce, encrypted)
        return f"{_FORMAT}{keys[0].id}:{base64.urlsafe_b64encode(sealed).decode()}"

    def open(self, stored: str, context: str) -> str:
        """Raises CannotUnseal if its key is not among ours, or if it was changed or belongs elsewhere."""
        if not stored.startswith(SEALED):
            return stored
        name, _, body = stored.removeprefix(_FORMAT).partition(":")
        for key in self._load_keys():
            if key.id == name and stored.startswith(_FORMAT):
                return _unseal(key, body, context)
        raise CannotUnseal(
            f"a secret was encrypted with the key {name[:16]!r}, which this process does not have; let PRESSROOM_SECRET_KEY be "
            "the same in every process"
        )

    def _load_keys(self, *, create: bool = False) -> list[Key]:
        if not self._keys and self._file is not None:
            if create and not self._file.exists():
                _create_key_file(self._file)
            with suppress(FileNotFoundError):
                self._keys = [Key(_read_key_file(self._file))]
        return self._keys


def keyring_of(settings: Settings) -> Keyring:
    """On PostgreSQL a key file is read and never made: processes on other machines would not have it."""
    return Keyring(
        settings.secret_key, file=settings.key_file, creates=not settings.on_postgres and settings.key_file is not None
    )


def _unseal(key: Key, body: str, context: str) -> str:
    try:
        sealed = base64.b64decode(body, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        sealed = b""
    nonce, encrypted, tag = sealed[:_NONCE], sealed[_NONCE:-_TAG], sealed[-_TAG:]
    if len(sealed) < _NONCE + _TAG or not hmac.compare_digest(tag, key.tag(context, nonce, encrypted)):
        raise CannotUnseal(f"the encrypted secret of {context} was changed, or is another's")
    return _xor(encrypted, key.keystream(nonce, len(encrypted))).decode()


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def _read_key_file(path: Path) -> str:
    try:
        text = read_regular(path).decode().strip()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as reason:
        raise StoreUnavailable(f"the key in {path} cannot be read: {reason}", dependency="secret_key") from None
    if len(text) < SHORTEST_KEY:
        message = f"{path} does not hold a key of {SHORTEST_KEY} characters or more"
        raise StoreUnavailable(message, dependency="secret_key")
    return text


def _create_key_file(path: Path) -> None:
    """On stable storage before anything is sealed with it. Of two processes that come at once, the first one's key stays."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(temporary, _CREATE, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(temporary, path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as reason:
        raise StoreUnavailable(f"the key {path} cannot be made: {reason.strerror}", dependency="secret_key") from None
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
