"""Tokens as members of an organisation."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pressroom.api.access import Scope
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.store.access.tokens import Token

ROLES = {"reader": Scope.VIEWER, "uploader": Scope.SUBMITTER, "admin": Scope.OPERATOR}
_ROLE_OF = {scope.name.lower(): role for role, scope in ROLES.items()} | {"admin": "admin"}
LONGEST_DAYS = 3650


class MemberView(msgspec.Struct, frozen=True, kw_only=True):
    """A token of an organisation. `prefix` is its beginning, by which people recognise it."""

    self_url: str
    org_url: str
    id: str
    name: str
    prefix: str
    role: str
    date_created: datetime
    date_expires: datetime | None
    date_used: datetime | None


class CreatedMemberView(MemberView, frozen=True, kw_only=True):
    """`token` is shown this once."""

    token: str


class MemberDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token to create. It expires after `expires_in_days`; without that, never."""

    role: str
    name: str = ""
    expires_in_days: Annotated[int, Meta(ge=1, le=LONGEST_DAYS)] | None = None


def member_view(token: Token, org: str, urls: ApiUrls) -> MemberView:
    return MemberView(**_fields(token, org, urls))


def created_member_view(token: Token, secret: str, org: str, urls: ApiUrls) -> CreatedMemberView:
    return CreatedMemberView(**_fields(token, org, urls), token=secret)


def _fields(token: Token, org: str, urls: ApiUrls) -> dict[str, Any]:
    return {
        "self_url": urls.member(org, token.uid),
        "org_url": urls.org(org),
        "id": token.uid,
        "name": token.name,
        "prefix": token.prefix,
        "role": _ROLE_OF[token.scope],
        "date_created": token.date_created,
        "date_expires": token.expires_at,
        "date_used": token.used_at,
    }
