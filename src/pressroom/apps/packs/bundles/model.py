"""Bundles as values: what is asked for, what a job is told, and what came of it."""

from typing import Annotated, Any

import msgspec

from pressroom.apps.packs.config.registry import DocId
from pressroom.apps.packs.model import RenderStatus
from pressroom.renderers.pdf.container import MAX_PARTS
from pressroom.renderers.pdf.options import Stamp, Title, Word


class BundleEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document in a bundle. `state` is a word of the caller, such as draft, copy or final: the contents page shows it, and
    `stamps` has the text that is stamped on a document in that state."""

    doc_id: DocId
    title: Title = ""
    state: Word = ""


class BundleRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`documents` are named by their ids or as entries, in this order. Without them: all that are ready, as in the registry."""

    documents: Annotated[list[DocId | BundleEntry], msgspec.Meta(min_length=1, max_length=MAX_PARTS)] | None = None
    contents: bool = True
    page_numbers: bool = True
    stamp: Stamp = ""  # over every page
    stamps: Annotated[dict[Word, Stamp], msgspec.Meta(max_length=100)] = {}  # by state, instead of `stamp`

    def entries(self) -> list[BundleEntry] | None:
        if self.documents is None:
            return None
        return [BundleEntry(one) if isinstance(one, str) else one for one in self.documents]


class BundleOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a job. The newest ready file of each document is read when it runs."""

    pack_id: str
    session_id: str
    number: int
    documents: list[BundleEntry]
    all_ready: bool  # whether these were all that were ready, and not a choice
    title: str
    lang: str
    contents: bool
    contents_title: str
    page_numbers: bool
    stamp: str
    stamps: dict[str, str]


class PackBundle(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle that was requested. `versions` are those of the documents in it, once it is ready."""

    pack: str
    number: int
    job_uid: str
    job_id: str
    order: BundleOrder
    requested_by: str
    outcome: str | None
    error: dict[str, Any] | None
    artifact: str | None
    file_id: str | None
    pages: int | None
    size: int | None
    sha256: str | None
    versions: dict[str, int]
    date_created: int
    date_settled: int | None
    job_status: str | None = None
    job_error: str | None = None

    filename = "bundle.pdf"

    @property
    def status(self) -> RenderStatus:
        if self.outcome is not None:
            return "ready" if self.outcome == "ready" else "failed"
        return "rendering" if self.job_status == "in_progress" else "queued"

    @property
    def last_error(self) -> str | None:
        if self.error is not None:
            return str(self.error.get("message") or "")
        return self.job_error if self.outcome is None else None
