"""Credentials and services as their organisation sees them. No view has a secret."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.docs.credentials.model import Credential, OrgService
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.model import from_ms


class CredentialView(msgspec.Struct, frozen=True, kw_only=True):
    """`key_version` is that of the key which the secret is encrypted with."""

    self_url: str
    org_url: str
    label: str
    provider: str
    key_version: int
    date_created: datetime
    date_updated: datetime


class ServiceView(msgspec.Struct, frozen=True, kw_only=True):
    self_url: str
    org_url: str
    credential_url: str | None
    label: str
    category: str
    provider: str
    config: dict[str, Any]
    credential_label: str | None
    date_created: datetime
    date_updated: datetime


def credential_view(credential: Credential, urls: ApiUrls) -> CredentialView:
    return CredentialView(
        self_url=urls.credential(credential.org, credential.label),
        org_url=urls.org(credential.org),
        label=credential.label,
        provider=credential.provider,
        key_version=credential.key_version,
        date_created=from_ms(credential.date_created),
        date_updated=from_ms(credential.date_changed),
    )


def service_view(service: OrgService, urls: ApiUrls) -> ServiceView:
    credential = service.credential_label
    return ServiceView(
        self_url=urls.service(service.org, service.label),
        org_url=urls.org(service.org),
        credential_url=None if credential is None else urls.credential(service.org, credential),
        label=service.label,
        category=service.category,
        provider=service.provider,
        config=service.config,
        credential_label=credential,
        date_created=from_ms(service.date_created),
        date_updated=from_ms(service.date_changed),
    )
