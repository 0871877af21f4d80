"""Packs, their documents and renders, as values."""

import re
from typing import Any, Literal
from uuid import UUID

import msgspec

from pressroom import ids
from pressroom.apps.packs.errors import PackNotFound
from pressroom.errors import NotFound

type RenderStatus = Literal["not_requested", "queued", "rendering", "ready", "failed"]

ACTIVE = frozenset({"queued", "rendering", "ready"})  # R9
LANGUAGE = re.compile(r"(?=.{2,64}$)[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")  # as the engine jinja takes it


class PackDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a caller sends to make a pack. `user` is the application's own name for one of its users."""

    data: dict[str, Any]
    title: str = ""
    session_id: str = ""
    user: str = ""
    lang: str = ""


class Pack(msgspec.Struct, frozen=True):
    id: str
    org_id: str
    session_id: str
    user_id: str
    title: str
    lang: str
    link_digest: str | None
    link_expires_at: int | None
    data_version: int
    date_created: int
    date_changed: int
    date_deleted: int | None


class PackRender(msgspec.Struct, frozen=True, kw_only=True):
    """One render of a document. The fields of its job are those of now; None once that was pruned or if it has ended."""

    pack: str
    doc_id: str
    number: int
    job_uid: str
    job_id: str
    session_id: str
    data_version: int
    config: dict[str, int]
    entry_sha256: str
    snapshot: str | None
    requested_by: str
    outcome: str | None
    attempts: int
    max_attempts: int
    error: dict[str, Any] | None
    artifact: str | None
    file_id: str | None
    pages: int | None
    size: int | None
    sha256: str | None
    engines: dict[str, str]
    date_created: int
    date_settled: int | None
    job_status: str | None = None
    job_failures: int | None = None
    job_error: str | None = None
    job_run_at: int | None = None
    job_phase: str | None = None

    @property
    def status(self) -> RenderStatus:
        """In the words of design 002 (R33)."""
        if self.outcome is not None:
            return "ready" if self.outcome == "ready" else "failed"
        return "rendering" if self.job_status == "in_progress" else "queued"

    @property
    def filename(self) -> str:
        return f"{self.doc_id}.pdf"

    @property
    def failed_attempts(self) -> int:
        return self.attempts if self.job_failures is None else self.job_failures

    @property
    def last_error(self) -> str | None:
        if self.error is not None:
            return str(self.error.get("message") or "")
        return self.job_error if self.outcome is None else None


class RenderTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a job: which render of which document. R17 has its fields."""

    pack_id: str
    session_id: str
    doc_id: str
    render_request: "RenderOrder"


class RenderOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Versions, not texts: a retry renders what was requested, and the data of a pack never travels with a message."""

    number: int
    data_version: int
    config: dict[str, int]
    lang: str
    content: str | None = None  # the artifact with the content of a document that has no template


def parse_id(text: str) -> str:
    """The id of a pack or a file in any of its spellings, as a UUID. Raises PackNotFound."""
    try:
        return str(ids.as_uuid(ids.parse_uid(text)))
    except NotFound:
        raise PackNotFound from None


def to_uuid(uid: str) -> str:
    return str(ids.as_uuid(uid))


def to_uid(uuid: str) -> str:
    return ids.parse_uid(str(UUID(uuid)))
