"""The kind `packs.bundle`: the newest ready files of a pack's documents become one PDF, by the engine `pdf`."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom import artifact_lifecycle
from pressroom.apps.packs import store as packs_store
from pressroom.apps.packs.bundles import store
from pressroom.apps.packs.bundles.model import BundleOrder
from pressroom.apps.packs.errors import DocumentsNotReady
from pressroom.definitions import Backoff, Kind
from pressroom.errors import PressroomError, TooLarge
from pressroom.kinds.rendering import Rendering
from pressroom.model import Ending, Status, Tier, Work
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import PreparedRender, RenderRequest
from pressroom.renderers.pdf import pack_pdfs
from pressroom.renderers.pdf.engine import Pdf
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import Artifact, ArtifactDraft

NAME = "packs.bundle"


class BundleRendering:
    """Merges in this worker's engine processes, also where a render service prints the documents."""

    def __init__(self, rendering: Rendering) -> None:
        self._rendering = rendering
        self.kind = Kind(
            NAME,
            self.handle,
            tier=Tier.INTERACTIVE,
            max_attempts=3,
            backoff=Backoff(base=1, cap=60),
            timeout=300,
            retention=timedelta(days=7),
            settling=self.settle,
            retry_timeouts=False,  # the same files take as long again
            pool="render",
            alert=True,
        )

    async def handle(self, job: Any, payload: Any) -> dict[str, Any]:
        order = msgspec.convert(payload, BundleOrder)
        await job.phase("reading")
        files = await self._rendering.database.read(partial(_find_files, order, job.org_id or ""))
        parts = await self._read_parts([artifact for _, artifact in files])
        await job.phase("merging")
        prepared = await asyncio.to_thread(_prepare, order, parts)
        rendered = await self._merge(prepared, job)
        await job.phase("storing")
        draft = await artifact_lifecycle.store_artifact(
            self._rendering.blobs,
            self._rendering.database,
            rendered.data,
            media_type=rendered.media_type,
            filename="bundle.pdf",
        )
        return artifacts.result_with_artifacts(
            draft,
            pages=rendered.details["pages"],
            versions={entry.doc_id: version for entry, (version, _) in zip(order.documents, files, strict=True)},
            warnings=[msgspec.to_builtins(warning) for warning in rendered.warnings[:100]],
            engines=prepared.engines,
        )

    async def _read_parts(self, files: list[Artifact]) -> list[bytes]:
        size, limit = sum(file.size for file in files), Pdf.limits.source
        if size > limit:
            raise TooLarge(f"the documents of this pack have {size:,} bytes; one PDF is made of at most {limit:,}")
        return [b"".join([chunk async for chunk in await self._rendering.read(file)]) for file in files]

    async def _merge(self, prepared: PreparedRender, job: Any) -> Rendered:
        try:
            return await documents.render(self._rendering.engine_pools_for(job), prepared.plan)
        except PressroomError as error:
            error.engines = prepared.engines
            raise

    def settle(self, ending: Ending) -> Work[None]:
        """The file or the failure, in the transaction that ends the job."""
        try:
            order = msgspec.convert(ending.payload, BundleOrder)
        except msgspec.ValidationError:
            return
        if ending.result is not None:
            (draft,) = msgspec.convert(ending.result["artifacts"], list[ArtifactDraft])
            pages, versions = ending.result["pages"], ending.result["versions"]
            yield from store.settle_ready(order, ending.uid, ending.org_id, draft, pages=pages, versions=versions)
            return
        outcome = "cancelled" if ending.status is Status.CANCELLED else "failed"
        yield from store.settle_ended(order, ending.uid, outcome, ending.error or {"code": outcome, "message": outcome})


def _find_files(order: BundleOrder, org_id: str) -> Work[list[tuple[int, Artifact]]]:
    """The newest ready version of each document, and its file."""
    yield from packs_store.get_pack(org_id, order.pack_id)
    renders = yield from packs_store.list_document_renders(order.pack_id)
    files: list[tuple[int, Artifact]] = []
    for entry in order.documents:
        found = renders.get(entry.doc_id)
        if found is None or found.good is None or found.good.artifact is None:
            raise DocumentsNotReady([entry.doc_id])
        files.append((found.good.number, (yield from artifacts.get(found.good.artifact))))
    return files


def _prepare(order: BundleOrder, parts: list[bytes]) -> PreparedRender:
    options = {
        "documents": [{"title": entry.title, "state": entry.state} for entry in order.documents],
        "contents": order.contents,
        "contents_title": order.contents_title,
        "page_numbers": order.page_numbers,
        "stamp": order.stamp,
        "stamps": order.stamps,
        "title": order.title,
        "lang": order.lang,
    }
    return documents.prepare(RenderRequest("pdf", "pdf", pack_pdfs(parts), options))
