"""Documents whose content comes with the request, as design 002's product takes them: a title, sections and meta.

The content is kept as an artifact that the render names in place of a configuration, so that a retry renders the same.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from pressroom import artifact_lifecycle
from pressroom.apps.packs import store
from pressroom.apps.packs.actor import Actor
from pressroom.apps.packs.config.registry import DocId
from pressroom.apps.packs.errors import AlreadyInProgress, DocumentDisabled, DocumentLocked
from pressroom.apps.packs.model import Pack, PackRender, RenderOrder, RenderTarget, to_uuid
from pressroom.apps.packs.packs import Packs, check_text
from pressroom.apps.packs.planning import list_documents, make_request
from pressroom.apps.packs.settings import PacksSettings
from pressroom.apps.packs.store import NewPackRender
from pressroom.base import json_text
from pressroom.model import Tier, Work
from pressroom.queue import Queue
from pressroom.renderers.jinja.sections import template_of
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactDraft


class SectionsSent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The request of design 002's product. Of which types sections are, `docs/packs.md` says."""

    pack_id: str
    doc_id: DocId
    session_id: str = ""
    title: str = ""
    sections: list[dict[str, Any]]
    meta: dict[str, Any] = {}


class RequestedSections(msgspec.Struct, frozen=True):
    pack: Pack
    target: RenderTarget
    job_uid: str


class SectionRenders:
    def __init__(self, queue: Queue, packs: Packs, settings: PacksSettings) -> None:
        self._queue = queue
        self._packs = packs
        self._settings = settings

    async def submit(
        self, org_id: str | None, sent: SectionsSent, *, requested_by: str, user: str | None = None, **submit_options: Any
    ) -> RequestedSections:
        """Raises PackNotFound, AnotherUsersPack, DocumentDisabled, DocumentLocked, and InvalidArgument with a pointer to what
        is wrong with the content."""
        check_text("session_id", sent.session_id)
        pack = await self._packs.get(org_id, sent.pack_id, user=user)
        content = await asyncio.to_thread(self._encode, sent)
        draft = await artifact_lifecycle.store_artifact(
            self._packs.blobs,
            self._packs.database,
            content,
            media_type="application/json",
            filename=f"{sent.doc_id}.json",
            name="sections",
            with_link=False,
        )
        options = {"tier": Tier.INTERACTIVE, **submit_options}
        session_id = sent.session_id or pack.session_id
        return await self._submit(pack, sent.doc_id, session_id, draft, requested_by, options)

    async def render_again(
        self, pack: Pack, failed: PackRender, *, requested_by: str, actor: Actor, **submit_options: Any
    ) -> RequestedSections:
        """The same content in a new job, which names the old one. Raises AlreadyInProgress."""
        options = {"tier": Tier.BACKGROUND, **submit_options}
        return await self._submit(pack, failed.doc_id, failed.session_id, failed, requested_by, options, actor)

    def _encode(self, sent: SectionsSent) -> bytes:
        document = {"title": sent.title, "sections": sent.sections, "meta": sent.meta}
        text = json_text.encode(document, limit=self._settings.max_data, what="the document")
        template_of(document)
        return text.encode()

    async def _submit(
        self,
        pack: Pack,
        doc_id: str,
        session_id: str,
        content: ArtifactDraft | PackRender,
        requested_by: str,
        options: dict[str, Any],
        actor: Actor | None = None,
    ) -> RequestedSections:
        uid = content.uid if isinstance(content, ArtifactDraft) else content.snapshot
        async with self._queue.transaction() as tx:
            is_new = actor is None
            number = await tx.run(partial(_next_number, pack, doc_id, self._settings, is_new), name="packs")
            order = RenderOrder(number=number, data_version=pack.data_version, config={}, lang=pack.lang, content=uid)
            target = RenderTarget(pack_id=pack.id, session_id=session_id, doc_id=doc_id, render_request=order)
            (job,) = await self._queue.submit_many([make_request(pack, target, options)], within=tx)
            row = NewPackRender(
                target=target,
                job_uid=job.uid,
                entry_sha256=hashlib.sha256(str(uid).encode()).hexdigest(),
                snapshot=uid,
                requested_by=requested_by,
                max_attempts=self._settings.max_attempts,
                retry_of=None if isinstance(content, ArtifactDraft) else content.job_id,
            )
            await tx.run(partial(_record, pack, row, content, actor), name="packs")
        return RequestedSections(pack, target, job.uid)


def _next_number(pack: Pack, doc_id: str, settings: PacksSettings, is_new: bool) -> Work[int]:
    """Lock the pack. A document of the registry has to be available; others may have any content."""
    yield from store.lock_pack(pack.org_id, pack.id)
    for listed in (yield from list_documents(pack, settings)):
        if listed.document.doc_id == doc_id and not listed.document.access.enabled:
            raise DocumentDisabled(doc_id)
        if listed.document.doc_id == doc_id and listed.document.access.is_locked:
            raise DocumentLocked(doc_id, str(listed.document.access.reason))
    found = (yield from store.list_document_renders(pack.id)).get(doc_id)
    if found is None:
        return 1
    if not is_new and found.latest.status in ("queued", "rendering"):
        raise AlreadyInProgress(doc_id)
    return found.latest.number + 1


def _record(pack: Pack, row: NewPackRender, content: ArtifactDraft | PackRender, actor: Actor | None) -> Work[None]:
    yield from store.insert_renders([row])
    if isinstance(content, ArtifactDraft):
        yield from artifacts.record(content, org_id=pack.org_id or None, holder=store.snapshot_holder(pack.id))
    elif actor is not None:
        before: Mapping[str, Any] = {"job_id": content.job_id, "version": content.number, "status": content.outcome}
        after = {"job_id": to_uuid(row.job_uid), "version": row.target.render_request.number}
        yield from actor.record("render.requeue", f"{pack.id}/{content.doc_id}", before=before, after=after)
