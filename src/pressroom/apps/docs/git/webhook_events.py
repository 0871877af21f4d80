"""Webhooks of git hosts: whether a signature is right, and what an event says. Pure functions."""

import hashlib
import hmac
from typing import Literal

import msgspec

from pressroom.apps.docs.errors import SignatureInvalid
from pressroom.apps.docs.git.addresses import repository_name
from pressroom.apps.docs.git.refs import short_name
from pressroom.errors import InvalidArgument

PREFIX = "sha256="


class RepositoryFacts(msgspec.Struct, frozen=True):
    full_name: str = ""
    clone_url: str = ""
    html_url: str = ""


class _Name(msgspec.Struct, frozen=True):
    before: str = msgspec.field(name="from", default="")


class _Login(msgspec.Struct, frozen=True):
    login: str = ""


class _OwnerBefore(msgspec.Struct, frozen=True):
    user: _Login | None = None
    organization: _Login | None = None


class _Owner(msgspec.Struct, frozen=True):
    before: _OwnerBefore = msgspec.field(name="from", default_factory=_OwnerBefore)


class _RepositoryChange(msgspec.Struct, frozen=True):
    name: _Name = _Name()


class _Changes(msgspec.Struct, frozen=True):
    repository: _RepositoryChange = _RepositoryChange()
    owner: _Owner | None = None


class _Payload(msgspec.Struct, frozen=True):
    """As much as is used of the payload of any event."""

    ref: str | None = None
    deleted: bool | None = None
    action: str | None = None
    repository: RepositoryFacts | None = None
    changes: _Changes | None = None


class RepositoryEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`names` are all names of the repository, as `repository_name` makes them; `old_names` those before it was renamed."""

    what: Literal["push", "delete", "rename", "ping", "other"]
    names: list[str] = []
    git_ref: str = ""
    clone_url: str = ""
    old_names: list[str] = []


def check_signature(secrets: str, body: bytes, signature: str | None) -> None:
    """Over the bytes as they came. `secrets` are separated by spaces, so that one can be replaced by another in peace. Raises
    SignatureInvalid."""
    given = (signature or "").encode(errors="replace")
    wanted = [f"{PREFIX}{hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}".encode() for secret in secrets.split()]
    # All are compared: the time tells nothing of which one was right.
    if sum(hmac.compare_digest(one, given) for one in wanted) == 0:
        raise SignatureInvalid


def read_event(name: str, body: bytes) -> RepositoryEvent:
    """Raises InvalidArgument for what is no payload."""
    if name == "ping":
        return RepositoryEvent(what="ping")
    if name not in ("push", "delete", "repository"):
        return RepositoryEvent(what="other")
    try:
        payload = msgspec.json.decode(body, type=_Payload)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as reason:
        raise InvalidArgument(f"the payload cannot be read: {str(reason)[:200]}") from None
    if payload.repository is None:
        raise InvalidArgument("the payload names no repository")
    names = _names(payload.repository)
    git_ref = short_name(payload.ref or "")
    match name:
        case "push" if git_ref:
            is_deleted = payload.deleted is True
            return RepositoryEvent(what="delete" if is_deleted else "push", names=names, git_ref=git_ref)
        case "delete" if git_ref:
            return RepositoryEvent(what="delete", names=names, git_ref=git_ref)
        case "repository" if payload.action in ("renamed", "transferred") and payload.changes is not None:
            old = _old_names(payload.repository, payload.changes)
            return RepositoryEvent(what="rename", names=names, old_names=old, clone_url=payload.repository.clone_url)
    return RepositoryEvent(what="other")


def _names(repository: RepositoryFacts) -> list[str]:
    return sorted({repository_name(url) for url in (repository.clone_url, repository.html_url) if url})


def _old_names(repository: RepositoryFacts, changes: _Changes) -> list[str]:
    """The host is the same; owner or name are others."""
    owner, _, name = repository.full_name.lower().partition("/")
    old_name = changes.repository.name.before.lower() or name
    before = changes.owner.before if changes.owner is not None else _OwnerBefore()
    old_owner = next((login.login.lower() for login in (before.organization, before.user) if login is not None), owner)
    ending = f"/{owner}/{name}"
    return [f"{one.removesuffix(ending)}/{old_owner}/{old_name}" for one in _names(repository) if one.endswith(ending)]
