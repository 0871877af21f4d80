"""Bundles as HTTP shows them."""

from datetime import datetime

import msgspec

from pressroom.apps.packs.bundles.model import BundleOrder, PackBundle
from pressroom.apps.packs.bundles.requests import FoundBundle, RequestedBundle
from pressroom.apps.packs.model import Pack, to_uuid
from pressroom.model import from_ms


class RequestedBundleView(msgspec.Struct, frozen=True, kw_only=True):
    """`missing` are available documents that have no ready file."""

    ok: bool
    pack_id: str
    job_id: str
    version: int
    documents: list[str]
    missing: list[str]


class BundledDocumentView(msgspec.Struct, frozen=True):
    """`version` is null until the bundle is ready."""

    doc_id: str
    title: str
    state: str
    version: int | None


class GoodBundleView(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    file_id: str | None
    pages: int | None
    size: int | None
    sha256: str | None
    documents: list[BundledDocumentView]
    created_at: datetime


class BundleView(msgspec.Struct, frozen=True, kw_only=True):
    """`file_id` is that of the newest bundle, if it is ready; `good` is the newest ready one, whatever came after it."""

    pack_id: str
    status: str
    job_id: str | None
    version: int | None
    file_id: str | None
    pages: int | None
    last_error: str | None
    documents: list[BundledDocumentView]
    outdated: bool
    requested_by: str | None
    created_at: datetime | None
    good: GoodBundleView | None


def requested_bundle_view(requested: RequestedBundle) -> RequestedBundleView:
    return RequestedBundleView(
        ok=True,
        pack_id=requested.pack.id,
        job_id=to_uuid(requested.job_uid),
        version=requested.number,
        documents=requested.documents,
        missing=requested.missing,
    )


def bundle_view(pack: Pack, found: FoundBundle, *, for_holder: bool = False) -> BundleView:
    """A holder of the pack's link is told neither errors nor for whom it was made."""
    latest = found.latest
    return BundleView(
        pack_id=pack.id,
        status=latest.status if latest else "not_requested",
        job_id=latest.job_id if latest else None,
        version=latest.number if latest else None,
        file_id=latest.file_id if latest else None,
        pages=latest.pages if latest else None,
        last_error=latest.last_error if latest and not for_holder else None,
        documents=_documents_of(latest.order, latest.versions) if latest else [],
        outdated=found.outdated,
        requested_by=latest.requested_by if latest and not for_holder else None,
        created_at=from_ms(latest.date_created) if latest else None,
        good=None if found.good is None else _good_view(found.good),
    )


def _good_view(bundle: PackBundle) -> GoodBundleView:
    return GoodBundleView(
        version=bundle.number,
        file_id=bundle.file_id,
        pages=bundle.pages,
        size=bundle.size,
        sha256=bundle.sha256,
        documents=_documents_of(bundle.order, bundle.versions),
        created_at=from_ms(bundle.date_settled or bundle.date_created),
    )


def _documents_of(order: BundleOrder, versions: dict[str, int]) -> list[BundledDocumentView]:
    return [BundledDocumentView(one.doc_id, one.title, one.state, versions.get(one.doc_id)) for one in order.documents]
