"""Credentials encrypted by the transit engine of Vault or OpenBao, with a key for each organisation that never leaves it."""

import base64
import binascii
import logging
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pressroom.apps.docs.errors import KeysUnavailable
from pressroom.errors import CannotUnseal, PackageMissing

if TYPE_CHECKING:
    import httpx

log = logging.getLogger("pressroom.docs")

TIMEOUT = 15.0  # seconds


class VaultTransit:
    has_key_per_org = True

    def __init__(self, address: str, token: str, *, mount: str = "transit", key_prefix: str = "pressroom-docs-") -> None:
        self._address = address.rstrip("/")
        self._token = token
        self._mount = mount.strip("/")
        self._key_prefix = key_prefix
        self._opened: httpx.AsyncClient | None = None

    async def encrypt(self, org: str, plaintext: bytes) -> str:
        """The first one of an organisation makes its key, if the token may do that."""
        data = await self._post(f"encrypt/{self._key(org)}", {"plaintext": base64.b64encode(plaintext).decode()})
        return str(data["ciphertext"])

    async def decrypt(self, org: str, ciphertext: str) -> bytes:
        data = await self._post(f"decrypt/{self._key(org)}", {"ciphertext": ciphertext})
        try:
            return base64.b64decode(data["plaintext"], validate=True)
        except (binascii.Error, ValueError, TypeError):
            raise KeysUnavailable("the answer of Vault is not understood") from None

    async def newest_version(self, org: str) -> int:
        """0 if the organisation has no key yet."""
        data = await self._request("GET", f"keys/{self._key(org)}", missing={"latest_version": 0})
        return int(data["latest_version"])

    async def rewrap(self, org: str, ciphertext: str) -> str:
        """Vault decrypts and encrypts: the plaintext stays there."""
        return str((await self._post(f"rewrap/{self._key(org)}", {"ciphertext": ciphertext}))["ciphertext"])

    async def rotate(self, org: str | None, *, above: int = 0) -> int:  # noqa: ARG002 - Vault gives the numbers
        if org is None:
            raise KeysUnavailable("Vault has a key for each organisation; name the organisation")
        await self._request("POST", f"keys/{self._key(org)}/rotate", {}, missing={})
        return await self.newest_version(org)

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None

    def _key(self, org: str) -> str:
        return quote(f"{self._key_prefix}{org}", safe="")

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._request("POST", path, body)

    async def _request(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, missing: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """`missing` is the answer where there is no such key. Neither body is logged: one of them has the secret."""
        import httpx

        try:
            response = await self._client().request(method, f"/v1/{quote(self._mount)}/{path}", json=body)
        except httpx.HTTPError as reason:
            raise KeysUnavailable(f"Vault does not answer: {type(reason).__name__}") from None
        if response.status_code == 404 and missing is not None:
            return missing
        if response.status_code == 400 and path.startswith(("decrypt/", "rewrap/")):
            raise CannotUnseal("Vault cannot decrypt a credential: it was changed, or is of another organisation's key")
        if not response.is_success:
            raise KeysUnavailable(_refusal(response.status_code))
        try:
            data = response.json()["data"] if response.content else {}
        except (ValueError, KeyError, TypeError):
            raise KeysUnavailable("the answer of Vault is not understood") from None
        return dict(data or {})

    def _client(self) -> "httpx.AsyncClient":
        if self._opened is None:
            try:
                import httpx
            except ImportError:
                raise PackageMissing("httpx", "docs") from None
            # httpx logs addresses at the level info, and no header; the token is in a header.
            self._opened = httpx.AsyncClient(
                base_url=self._address,
                headers={"X-Vault-Token": self._token},
                timeout=TIMEOUT,
                verify=ssl.create_default_context(),
                trust_env=False,
                follow_redirects=False,
            )
        return self._opened


def _refusal(status: int) -> str:
    match status:
        case 403:
            return "Vault refuses the token: it is wrong, has expired, or may not use the key (403)"
        case 404:
            return "Vault has no such key or engine; correct vault_mount, or let the token make keys (404)"
        case 503:
            return "Vault is sealed or starting (503)"
        case _:
            return f"Vault answered {status}"
