"""Credentials and services: create, change, delete, and rotate the keys. A secret that was stored is never shown."""

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.credentials.ciphers import Cipher, make_cipher, version_of
from pressroom.apps.docs.credentials.model import (
    Credential,
    CredentialDraft,
    NewSecret,
    OrgService,
    RotatedKey,
    ServiceChanges,
    ServiceDraft,
    StoredCredential,
)
from pressroom.apps.docs.credentials.providers import check_config, check_label, check_secret
from pressroom.apps.docs.errors import KeysUnavailable
from pressroom.apps.docs.store import credentials as rows
from pressroom.apps.docs.store.orgs import get_org
from pressroom.errors import CannotUnseal
from pressroom.model import Work
from pressroom.store.operators.audit import AuditEntry, record


class OrgCredentials:
    """`org` and `label` name one. Raises OrgNotFound, CredentialNotFound, InvalidArgument and the like."""

    def __init__(self, core: Core, cipher: Cipher | None = None) -> None:
        self._core = core
        self.cipher = cipher or make_cipher(core)

    async def list(self, org: str) -> Sequence[Credential]:
        """By label."""
        return [_public(one) for one in await self._core.database.read(partial(rows.list_credentials, org))]

    async def get(self, org: str, label: str) -> Credential:
        return _public(await self._core.database.read(partial(rows.get_credential, org, label)))

    async def create(self, org: str, draft: CredentialDraft, *, actor: str) -> Credential:
        """Raises LabelTaken."""
        label, secret = check_label(draft.label), check_secret(draft.provider, draft.credentials)
        await self._core.database.read(partial(get_org, org))
        ciphertext = await self._encrypt(org, secret)

        def unit() -> Work[StoredCredential]:
            stored = yield from rows.insert_credential(org, label, draft.provider, ciphertext)
            yield from _audit(actor, "credential.create", org, label, {"provider": draft.provider})
            return stored

        return _public(await self._core.database.run(unit, name="credential"))

    async def replace(self, org: str, label: str, new: NewSecret, *, actor: str) -> Credential:
        """Give a credential another secret of the same provider."""
        old = await self._core.database.read(partial(rows.get_credential, org, label))
        ciphertext = await self._encrypt(org, check_secret(old.provider, new.credentials))

        def unit() -> Work[StoredCredential]:
            stored = yield from rows.replace_credential(org, label, ciphertext)
            yield from _audit(actor, "credential.replace", org, label, {"provider": old.provider})
            return stored

        return _public(await self._core.database.run(unit, name="credential"))

    async def delete(self, org: str, label: str, *, actor: str) -> None:
        """Raises CredentialInUse while a service uses it."""

        def unit() -> Work[None]:
            yield from rows.delete_credential(org, label)
            yield from _audit(actor, "credential.delete", org, label)

        await self._core.database.run(unit, name="credential")

    async def open_secret(self, org: str, label: str) -> dict[str, str]:
        """For publishers of this process, and for nothing that answers to a caller. Raises KeysUnavailable and CannotUnseal."""
        stored = await self._core.database.read(partial(rows.get_credential, org, label))
        plaintext = await self.cipher.decrypt(org, stored.ciphertext)
        try:
            return msgspec.json.decode(plaintext, type=dict[str, str])
        except msgspec.DecodeError:
            raise CannotUnseal(f"the credential {label} does not hold what was stored") from None

    async def rotate_keys(self, *, org: str | None = None, actor: str) -> Sequence[RotatedKey]:
        """Make new versions of the keys; `docs.credential_rewrap` then encrypts what is stored anew. Where each organisation
        has a key of its own: of one, or of all that have credentials."""
        orgs: Sequence[str | None] = [org]
        if not self.cipher.has_key_per_org:
            orgs = [None]
        elif org is None:
            orgs = await self._core.database.read(rows.list_orgs_with_credentials)
        else:
            await self._core.database.read(partial(get_org, org))
        in_use = await self._core.database.read(_newest_version_in_use)
        rotated = [RotatedKey(one, await self.cipher.rotate(one, above=in_use)) for one in orgs]

        def unit() -> Work[None]:
            for key in rotated:
                yield from _audit(actor, "keys.rotate", key.org, key.org or "all", {"version": key.version})

        await self._core.database.run(unit, name="credential")
        return rotated

    async def close(self) -> None:
        await self.cipher.close()

    async def _encrypt(self, org: str, secret: dict[str, str]) -> str:
        """Not with keys that came about because those before were lost: two keys would have the same number."""
        if not self.cipher.has_key_per_org:
            newest, in_use = await self.cipher.newest_version(org), await self._core.database.read(_newest_version_in_use)
            if newest < in_use:
                raise KeysUnavailable(
                    f"credentials are encrypted with version {in_use} of the key, and the file of keys has none above "
                    f"{newest}: restore the file, or make a key with `pressroom docs keys rotate` and replace the credentials"
                )
        return await self.cipher.encrypt(org, msgspec.json.encode(secret))


class OrgServices:
    """Plain configuration of what an organisation publishes to, with the label of the credential that it needs."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def list(self, org: str) -> Sequence[OrgService]:
        """By label."""
        return await self._core.database.read(partial(rows.list_services, org))

    async def get(self, org: str, label: str) -> OrgService:
        return await self._core.database.read(partial(rows.get_service, org, label))

    async def create(self, org: str, draft: ServiceDraft, *, actor: str) -> OrgService:
        """Raises LabelTaken, CredentialNotFound and ProviderMismatch, and InvalidArgument for a target that may not be."""
        label = check_label(draft.label)
        config = self._check_target(draft.provider, check_config(draft.provider, draft.config))

        def unit() -> Work[OrgService]:
            service = yield from rows.insert_service(org, label, draft.provider, config, draft.credential_label)
            yield from _audit(actor, "service.create", org, label, _facts(service))
            return service

        return await self._core.database.run(unit, name="service")

    async def change(self, org: str, label: str, changes: ServiceChanges, *, actor: str) -> OrgService:
        """Raises CredentialNotFound and ProviderMismatch, and InvalidArgument for a target that may not be."""

        def unit() -> Work[OrgService]:
            service = yield from rows.get_service(org, label)
            if isinstance(changes.config, dict):
                config = self._check_target(service.provider, check_config(service.provider, changes.config))
                service = msgspec.structs.replace(service, config=config)
            if not isinstance(changes.credential_label, msgspec.UnsetType):
                service = msgspec.structs.replace(service, credential_label=changes.credential_label)
            saved = yield from rows.save_service(service)
            yield from _audit(actor, "service.change", org, label, _facts(saved))
            return saved

        return await self._core.database.run(unit, name="service")

    async def delete(self, org: str, label: str, *, actor: str) -> None:
        """Raises ServiceInUse while the organisation uses it."""

        def unit() -> Work[None]:
            yield from rows.delete_service(org, label)
            yield from _audit(actor, "service.delete", org, label)

        await self._core.database.run(unit, name="service")

    def _check_target(self, provider: str, config: dict[str, Any]) -> dict[str, Any]:
        """The configuration, with a folder by its real path."""
        from pressroom.apps.docs.publishing.targets import check_target

        check_target(provider, config, self._core)
        return {**config, "path": os.path.realpath(config["path"])} if "path" in config else config


def _newest_version_in_use() -> Work[int]:
    """Of all organisations. 0 if nothing is encrypted."""
    newest = 0
    for ciphertext in (yield from rows.list_ciphertexts()):
        with suppress(CannotUnseal):  # damaged
            newest = max(newest, version_of(ciphertext))
    return newest


def _public(stored: StoredCredential) -> Credential:
    return Credential(
        org=stored.org,
        label=stored.label,
        provider=stored.provider,
        key_version=version_of(stored.ciphertext),
        date_created=stored.date_created,
        date_changed=stored.date_changed,
    )


def _facts(service: OrgService) -> dict[str, Any]:
    return {"provider": service.provider, "config": service.config, "credential_label": service.credential_label}


def _audit(actor: str, action: str, org: str | None, target: str, after: Any = None) -> Work[None]:
    yield from record(AuditEntry(who=actor, action=f"docs.{action}", target=target, after=after, org_id=org))
