"""Which documents of a pack a call renders, and with which data and versions. Units of work and pure functions."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pressroom.apps.packs import store
from pressroom.apps.packs.access import EffectiveDocument, effective_documents
from pressroom.apps.packs.composition import Composition, Published
from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.apps.packs.config.registry import parse_registry
from pressroom.apps.packs.errors import (
    DocumentDisabled,
    DocumentLocked,
    NeedsInput,
    RegistryEmpty,
    TemplateUnusable,
    UnknownDocument,
)
from pressroom.apps.packs.model import ACTIVE, Pack, RenderOrder, RenderTarget
from pressroom.apps.packs.renders import NAME
from pressroom.apps.packs.settings import PacksSettings
from pressroom.apps.packs.store import DocumentRenders
from pressroom.model import Work
from pressroom.submission.request import Request


class SkippedDocument(msgspec.Struct, frozen=True):
    doc_id: str
    reason: str
    missing: list[str] = []


class RequestedDocument(msgspec.Struct, frozen=True):
    doc_id: str
    job_uid: str
    number: int


class RenderAnswer(msgspec.Struct, frozen=True):
    """What a call to render did: the jobs it made, and the available documents that it left alone."""

    pack: Pack
    jobs: list[RequestedDocument]
    skipped: list[SkippedDocument]
    snapshot: str | None


class ListedDocument(msgspec.Struct, frozen=True):
    """A document of a pack as it is now. `renders` is None if it was never requested."""

    document: EffectiveDocument
    renders: DocumentRenders | None
    outdated: bool

    @property
    def is_ready(self) -> bool:
        """Whether it may be had and has a good file, whatever came after that."""
        return self.document.is_available and self.renders is not None and self.renders.good is not None


class PackPlan(msgspec.Struct, frozen=True):
    """A pack with the configuration that its documents would be made with."""

    pack: Pack
    published: Published
    documents: list[EffectiveDocument]
    data: dict[str, Any]
    compositions: dict[str, Composition]
    refusals: dict[str, NeedsInput | TemplateUnusable]


def read_configuration(pack: Pack, settings: PacksSettings) -> Work[tuple[Published, list[EffectiveDocument], dict[str, Any]]]:
    published = yield from versions.list_published(pack.org_id)
    documents = yield from read_documents(pack, published, settings)
    if not documents:
        raise RegistryEmpty
    return published, documents, (yield from store.read_data(pack.id, pack.data_version))


def read_documents(pack: Pack, published: Published, settings: PacksSettings) -> Work[list[EffectiveDocument]]:
    """The registry with the overlays of this pack (R8)."""
    if REGISTRY not in published:
        return []
    registry = parse_registry((yield from versions.read_body(pack.org_id, REGISTRY, published[REGISTRY].number)))
    return effective_documents(registry, (yield from store.list_overlays_of(pack)), settings)


def confirm_plan(plan: PackPlan, settings: PacksSettings) -> Work[dict[str, DocumentRenders] | None]:
    """Lock the pack, and see that what was planned with still holds. None: plan again."""
    pack = yield from store.lock_pack(plan.pack.org_id, plan.pack.id)
    published = yield from versions.list_published(pack.org_id)
    if pack.data_version != plan.pack.data_version or published != plan.published:
        return None
    if (yield from read_documents(pack, published, settings)) != plan.documents:
        return None
    return (yield from store.list_document_renders(pack.id))


def list_documents(pack: Pack, settings: PacksSettings) -> Work[list[ListedDocument]]:
    published = yield from versions.list_published(pack.org_id)
    documents = yield from read_documents(pack, published, settings)
    renders = yield from store.list_document_renders(pack.id)
    return [
        ListedDocument(document, renders.get(document.doc_id), is_outdated(pack, document, renders, published))
        for document in documents
    ]


def is_outdated(pack: Pack, document: EffectiveDocument, renders: Mapping[str, DocumentRenders], published: Published) -> bool:
    """Whether the ready file was made from other data, other texts or in another way than one of now would be."""
    found = renders.get(document.doc_id)
    if found is None or found.good is None:
        return False
    good = found.good
    if not good.config:  # its content came with the request
        return False
    current = {key: published[key].number if key in published else 0 for key in good.config if key != REGISTRY}
    was = {key: number for key, number in good.config.items() if key != REGISTRY}
    return (good.data_version, good.entry_sha256, was) != (pack.data_version, document.entry.sha256, current)


def choose_documents(
    plan: PackPlan, renders: Mapping[str, DocumentRenders], *, force: bool, outdated: bool
) -> tuple[list[str], list[SkippedDocument]]:
    chosen, skipped = [], []
    for document in plan.documents:
        if not document.is_available:
            continue
        doc_id, found = document.doc_id, renders.get(document.doc_id)
        status = found.latest.status if found else "not_requested"
        is_due = status not in ACTIVE or force
        if outdated and status == "ready":
            is_due = is_due or is_outdated(plan.pack, document, renders, plan.published)
        if not is_due:
            skipped.append(SkippedDocument(doc_id, status))
        elif (refusal := plan.refusals.get(doc_id)) is not None:
            skipped.append(SkippedDocument(doc_id, refusal.code, getattr(refusal, "missing", [])))
        else:
            chosen.append(doc_id)
    return chosen, skipped


def require_available(plan: PackPlan, doc_id: str) -> None:
    """Raises what says why a document of the pack cannot be made."""
    require_document(plan.documents, doc_id)
    if doc_id in plan.refusals:
        raise plan.refusals[doc_id]


def require_document(documents: Iterable[EffectiveDocument], doc_id: str) -> None:
    """Raises UnknownDocument, DocumentDisabled or DocumentLocked unless the pack may have this document."""
    by_id = {one.doc_id: one for one in documents}
    document = by_id.get(doc_id)
    if document is None:
        raise UnknownDocument(doc_id, list(by_id))
    if not document.access.enabled:
        raise DocumentDisabled(doc_id)
    if document.access.is_locked:
        raise DocumentLocked(doc_id, str(document.access.reason))


def make_target(plan: PackPlan, doc_id: str, renders: Mapping[str, DocumentRenders]) -> RenderTarget:
    found = renders.get(doc_id)
    order = RenderOrder(
        number=found.latest.number + 1 if found else 1,
        data_version=plan.pack.data_version,
        config=plan.compositions[doc_id].config,
        lang=plan.pack.lang,
    )
    return RenderTarget(pack_id=plan.pack.id, session_id=plan.pack.session_id, doc_id=doc_id, render_request=order)


def make_request(pack: Pack, target: RenderTarget, options: dict[str, Any]) -> Request:
    subject = f"{target.doc_id} of {pack.title}" if pack.title else f"{target.doc_id} of pack {pack.id}"
    return Request(
        NAME,
        msgspec.to_builtins(target),
        key=f"{key_prefix(pack.id)}/{target.doc_id}",
        org_id=pack.org_id or None,
        subject=subject[:200],
        **options,
    )


def key_prefix(pack_id: str) -> str:
    """Of the keys of a pack's jobs."""
    return f"packs:{pack_id}"
