"""Credentials and services as their organisation sees them. A secret is in none of these, except in a draft."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

HIDDEN = "…"


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a secret. It is written and never read."""

    org: str
    label: str
    provider: str
    key_version: int  # of the key that it is encrypted with
    date_created: int
    date_changed: int


class StoredCredential(msgspec.Struct, frozen=True, kw_only=True):
    org: str
    label: str
    provider: str
    ciphertext: str
    date_created: int
    date_changed: int


class OrgService(msgspec.Struct, frozen=True, kw_only=True):
    org: str
    label: str
    category: str
    provider: str
    config: dict[str, Any]
    credential_label: str | None
    date_created: int
    date_changed: int


class CredentialDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label: str
    provider: str
    credentials: dict[str, Any]

    def __repr__(self) -> str:
        return f"CredentialDraft(label={self.label!r}, provider={self.provider!r}, credentials={HIDDEN})"


class NewSecret(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In place of the one that a credential has. Its provider stays."""

    credentials: dict[str, Any]

    def __repr__(self) -> str:
        return f"NewSecret(credentials={HIDDEN})"


class ServiceDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label: str
    provider: str
    config: dict[str, Any] = {}
    credential_label: str | None = None


class ServiceChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    config: dict[str, Any] | UnsetType = UNSET
    credential_label: str | UnsetType | None = UNSET


class RotatedKey(msgspec.Struct, frozen=True):
    """`org` None: the key of all organisations."""

    org: str | None
    version: int
