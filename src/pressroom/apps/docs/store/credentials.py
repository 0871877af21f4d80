"""Credentials and services in the database: units of work. Secrets come and go as ciphertext."""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from pressroom.apps.docs.credentials.model import OrgService, StoredCredential
from pressroom.apps.docs.credentials.providers import NEEDS_PUBLISHER, SERVICE_PROVIDERS, SLOTS, service_provider
from pressroom.apps.docs.errors import (
    CredentialInUse,
    CredentialNotFound,
    LabelTaken,
    ProviderMismatch,
    ServiceInUse,
    ServiceNotFound,
)
from pressroom.apps.docs.store.orgs import get_org
from pressroom.apps.docs.store.rows import encoded
from pressroom.errors import InvalidArgument
from pressroom.model import Row, Statement, Work
from pressroom.store.jobs.transitions import now


def insert_credential(org: str, label: str, provider: str, ciphertext: str) -> Work[StoredCredential]:
    """Raises OrgNotFound and LabelTaken."""
    yield from get_org(org)
    moment = yield from now()
    fields = {"org": org, "label": label, "provider": provider, "ciphertext": ciphertext}
    if not (yield Statement("docs.insert_credential", {**fields, "now": moment})):
        raise LabelTaken("credential", label)
    return (yield from get_credential(org, label))


def get_credential(org: str, label: str) -> Work[StoredCredential]:
    """Raises CredentialNotFound."""
    rows = yield Statement("docs.find_credential", {"org": org, "label": label})
    if not rows:
        raise CredentialNotFound
    return _credential_of_row(rows[0])


def list_credentials(org: str) -> Work[list[StoredCredential]]:
    """By label. Raises OrgNotFound."""
    yield from get_org(org)
    return [_credential_of_row(row) for row in (yield Statement("docs.list_credentials", {"org": org}))]


def list_orgs_with_credentials() -> Work[list[str]]:
    return [org for (org,) in (yield Statement("docs.list_orgs_with_credentials"))]


def list_ciphertexts() -> Work[list[str]]:
    """Of all organisations."""
    return [ciphertext for (ciphertext,) in (yield Statement("docs.list_ciphertexts"))]


def replace_credential(org: str, label: str, ciphertext: str) -> Work[StoredCredential]:
    yield from get_credential(org, label)
    moment = yield from now()
    yield Statement("docs.replace_credential", {"org": org, "label": label, "ciphertext": ciphertext, "now": moment})
    return (yield from get_credential(org, label))


def rewrap_credential(old: StoredCredential, ciphertext: str) -> Work[bool]:
    """False if the credential was replaced, deleted or rewrapped meanwhile."""
    fields = {"org": old.org, "label": old.label, "old": old.ciphertext, "ciphertext": ciphertext}
    return bool((yield Statement("docs.rewrap_credential", fields)))


def delete_credential(org: str, label: str) -> Work[None]:
    """Raises CredentialNotFound, and CredentialInUse while a service uses it."""
    yield from get_credential(org, label)
    rows = yield Statement("docs.list_services_using_credential", {"org": org, "credential_label": label})
    if rows:
        raise CredentialInUse([service for (service,) in rows])
    yield Statement("docs.delete_credential", {"org": org, "label": label})


def insert_service(
    org: str, label: str, provider: str, config: Mapping[str, Any], credential_label: str | None
) -> Work[OrgService]:
    """Raises OrgNotFound, LabelTaken, CredentialNotFound and ProviderMismatch, and InvalidArgument for a folder of another
    organisation."""
    yield from get_org(org)
    yield from _check_credential(org, provider, credential_label)
    yield from _check_folder(org, provider, config)
    moment = yield from now()
    fields = {
        "org": org,
        "label": label,
        "category": service_provider(provider).category,
        "provider": provider,
        "config": encoded(config),
        "credential_label": credential_label,
    }
    if not (yield Statement("docs.insert_service", {**fields, "now": moment})):
        raise LabelTaken("service", label)
    return (yield from get_service(org, label))


def get_service(org: str, label: str) -> Work[OrgService]:
    """Raises ServiceNotFound."""
    rows = yield Statement("docs.find_service", {"org": org, "label": label})
    if not rows:
        raise ServiceNotFound
    return _service_of_row(rows[0])


def list_services(org: str) -> Work[list[OrgService]]:
    """By label. Raises OrgNotFound."""
    yield from get_org(org)
    return [_service_of_row(row) for row in (yield Statement("docs.list_services", {"org": org}))]


def save_service(service: OrgService) -> Work[OrgService]:
    """Its config and credential. Raises ServiceNotFound, CredentialNotFound and ProviderMismatch."""
    yield from get_service(service.org, service.label)
    yield from _check_credential(service.org, service.provider, service.credential_label)
    yield from _check_folder(service.org, service.provider, service.config)
    moment = yield from now()
    fields = {
        "org": service.org,
        "label": service.label,
        "config": encoded(service.config),
        "credential_label": service.credential_label,
    }
    yield Statement("docs.save_service", {**fields, "now": moment})
    return (yield from get_service(service.org, service.label))


def delete_service(org: str, label: str) -> Work[None]:
    """Raises ServiceNotFound, and ServiceInUse while it is in a slot of the organisation."""
    yield from get_service(org, label)
    used = [slot for slot, service in (yield from get_org(org)).slots.items() if service == label]
    if used:
        raise ServiceInUse(used)
    yield Statement("docs.delete_service", {"org": org, "label": label})


def check_slots(org: str, slots: Mapping[str, str]) -> Work[None]:
    """Before an organisation is saved. Raises InvalidArgument for a slot that does not exist, ServiceNotFound and
    ProviderMismatch."""
    for slot, label in slots.items():
        if slot not in SLOTS:
            raise InvalidArgument(f"there is no slot {slot[:64]!r}; the slots are {', '.join(SLOTS)}")
        service = yield from get_service(org, label)
        if service.category not in SLOTS[slot]:
            raise ProviderMismatch(f"{slot} takes services of {' or '.join(SLOTS[slot])}; {label} is one of {service.category}")
        if slot in NEEDS_PUBLISHER and not SERVICE_PROVIDERS[service.provider].publishes:
            raise ProviderMismatch(f"this version cannot publish with {service.provider}; {slot} needs another service")


def _check_credential(org: str, provider: str, label: str | None) -> Work[None]:
    spec = service_provider(provider)
    if label is None:
        if spec.needs_credential:
            raise InvalidArgument(f"a service of {provider} needs a credential of the provider {spec.credential}")
        return
    given = (yield from get_credential(org, label)).provider
    if given != spec.credential:
        takes = f"credentials of {spec.credential}" if spec.credential else "no credential"
        raise ProviderMismatch(f"a service of {provider} takes {takes}; {label} is one of {given}")


def _credential_of_row(row: Row) -> StoredCredential:
    org, label, provider, ciphertext, created, changed = row
    return StoredCredential(
        org=org, label=label, provider=provider, ciphertext=ciphertext, date_created=created, date_changed=changed
    )


def _check_folder(org: str, provider: str, config: Mapping[str, Any]) -> Work[None]:
    """Two organisations would overwrite, and delete, what the other one publishes."""
    if provider != "folder":
        return
    wanted = PurePath(config["path"])
    for (other,) in (yield Statement("docs.list_folders_of_others", {"org": org})):
        taken = PurePath(json.loads(other)["path"])
        if wanted.is_relative_to(taken) or taken.is_relative_to(wanted):
            raise InvalidArgument(
                "config of folder: another organisation publishes to this folder, or to one above or below it"
            )


def _service_of_row(row: Row) -> OrgService:
    org, label, category, provider, config, credential_label, created, changed = row
    return OrgService(
        org=org,
        label=label,
        category=category,
        provider=provider,
        config=json.loads(config),
        credential_label=credential_label,
        date_created=created,
        date_changed=changed,
    )
