"""What encrypts the secrets of organisations: a file of keys, or the transit engine of Vault or OpenBao.

A ciphertext begins with `vault:vN:`, where N is the version of the key. What was encrypted for one organisation cannot be
decrypted for another.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pressroom.errors import CannotUnseal

if TYPE_CHECKING:
    from pressroom.app import Core

_CIPHERTEXT = re.compile(r"vault:v([1-9][0-9]{0,8}):.+", re.DOTALL)


class Cipher(Protocol):
    """Raises KeysUnavailable if the keys cannot be used now, and CannotUnseal for a ciphertext that is not of these keys and
    this organisation."""

    async def encrypt(self, org: str, plaintext: bytes) -> str: ...

    async def decrypt(self, org: str, ciphertext: str) -> bytes: ...

    async def newest_version(self, org: str) -> int: ...

    async def rewrap(self, org: str, ciphertext: str) -> str:
        """The same plaintext under the newest version of the key. It is not shown to the caller."""
        ...

    async def rotate(self, org: str | None, *, above: int = 0) -> int:
        """Make a new version of the key of an organisation, or of the one that all have. Returns its number. `above` is the
        newest version that is in use: if the keys were lost, another key must not have its number."""
        ...

    @property
    def has_key_per_org(self) -> bool: ...

    async def close(self) -> None: ...


def version_of(ciphertext: str) -> int:
    """Raises CannotUnseal."""
    found = _CIPHERTEXT.fullmatch(ciphertext)
    if found is None:
        raise CannotUnseal("a stored credential is not a ciphertext such as vault:v1:…")
    return int(found[1])


def make_cipher(core: "Core") -> Cipher:
    """As the settings of the app say."""
    settings = core.app_settings
    if settings.vault_addr:
        from pressroom.apps.docs.credentials.vault_transit import VaultTransit

        return VaultTransit(
            settings.vault_addr, settings.vault_token, mount=settings.vault_mount, key_prefix=settings.vault_key_prefix
        )
    from pressroom.apps.docs.credentials.local_keys import LocalKeys

    if settings.keyring:
        return LocalKeys(Path(settings.keyring), creates=not core.settings.on_postgres)
    if core.settings.on_postgres:
        return LocalKeys(Path(core.settings.home) / "pressroom.docs-keys", creates=False)
    memory = core.settings.path == ":memory:"
    return LocalKeys(None if memory else Path(core.settings.path).with_suffix(".docs-keys"), creates=True)
