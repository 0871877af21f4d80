"""The kind `packs.render`: one document of a pack becomes a PDF, kept by the worker in the transaction that ends the job."""

import asyncio
import json
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom import artifact_lifecycle
from pressroom.apps.packs import store
from pressroom.apps.packs.composition import DEFAULT_LANG
from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.apps.packs.config.registry import RegistryEntry, parse_registry
from pressroom.apps.packs.errors import UnknownDocument
from pressroom.apps.packs.model import RenderTarget
from pressroom.apps.packs.settings import PacksSettings
from pressroom.definitions import Backoff, Kind
from pressroom.errors import RenderNotPdf
from pressroom.kinds.rendering import Rendering, RenderResult
from pressroom.model import Ending, Result, Status, Work
from pressroom.renderers import Rendered
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.jinja.sections import template_of

NAME = "packs.render"
PDF = b"%PDF-"  # R22


class DocumentRendering:
    """Makes the PDF of a render. Everything that it depends on is read by the versions that were requested."""

    def __init__(self, rendering: Rendering, settings: PacksSettings, timeout: float) -> None:
        self._rendering = rendering
        self._keep = settings.versions
        self.kind = Kind(
            NAME,
            self.handle,
            max_attempts=settings.max_attempts,
            backoff=Backoff(base=1, cap=60),
            timeout=timeout,
            retention=timedelta(days=7),
            settling=self.settle,
            pool="render",
            alert=True,  # R30
            message_fields=message_fields,
        )

    async def handle(self, job: Any, payload: Any) -> Result:
        target = msgspec.convert(payload, RenderTarget)
        await job.phase("rendering")
        request = await self._read_request(target, job.org_id or "")
        rendered = await self._rendering.document_renderer.render_pdf(request, job=job)
        _require_pdf(rendered)
        await job.phase("storing")
        draft = await artifact_lifecycle.store_artifact(
            self._rendering.blobs,
            self._rendering.database,
            rendered.data,
            media_type="application/pdf",
            filename=f"{target.doc_id}.pdf",
        )
        await artifact_lifecycle.name_artifact(
            self._rendering.blobs, self._rendering.database, draft, store.file_key(job.uid, target.doc_id)
        )
        assert draft.link is not None
        assert draft.sha256 is not None
        result = RenderResult(
            artifact=draft.uid,
            short_link=draft.link,
            sha256=draft.sha256,
            generation=draft.generation,
            size=draft.size,
            media_type=draft.media_type,
            filename=draft.filename,
            warnings=[msgspec.to_builtins(warning) for warning in rendered.warnings[:100]],
            details={"pages": rendered.details.get("pages")},
            engines=rendered.details["engines"],
        )
        return Result(msgspec.to_builtins(result), None)

    async def _read_request(self, target: RenderTarget, org_id: str) -> RenderRequest:
        order = target.render_request
        if order.content is None:
            return await self._rendering.database.read(partial(read_request, target, org_id))
        content = await self._rendering.read_all(await self._rendering.artifact(order.content))
        return await asyncio.to_thread(make_sections_request, content, order.lang)

    def settle(self, ending: Ending) -> Work[None]:
        """The file or the failure, in the transaction that ends the job: neither can be without the other (D20)."""
        try:
            target = msgspec.convert(ending.payload, RenderTarget)
        except msgspec.ValidationError:
            return
        if ending.result is not None:
            result = msgspec.convert(ending.result, RenderResult)
            pages = result.details.get("pages")
            yield from store.settle_ready(
                target, ending.uid, ending.org_id, result.draft(), pages=pages, engines=result.engines, keep=self._keep
            )
            return
        error = ending.error
        outcome = "failed"
        if ending.status is Status.CANCELLED:
            outcome = "superseded" if error is not None and error.get("code") == "superseded" else "cancelled"
            error = error or {"code": "cancelled", "message": "cancelled"}
        yield from store.settle_ended(target, ending.uid, outcome, error)


def _require_pdf(rendered: Rendered) -> None:
    if not rendered.data.startswith(PDF):
        raise RenderNotPdf(f"the renderer answered with {len(rendered.data):,} bytes that are not a PDF")


def message_fields(payload: Any) -> dict[str, Any]:
    """What design 002's message has beside the job's id (R17)."""
    return {name: payload[name] for name in ("pack_id", "session_id", "doc_id", "render_request")}


def read_request(target: RenderTarget, org_id: str) -> Work[RenderRequest]:
    """The template with all that it needs, of the versions that were requested."""
    order = target.render_request
    yield from store.get_pack(org_id, target.pack_id)
    data = yield from store.read_data(target.pack_id, order.data_version)
    bodies = yield from versions.read_bodies(org_id, {key: number for key, number in order.config.items() if number})
    entry = find_entry(parse_registry(bodies[REGISTRY]), target.doc_id)
    return make_request(entry, bodies, data, order.lang)


def make_request(entry: RegistryEntry, bodies: dict[str, str], data: dict[str, Any], lang: str) -> RenderRequest:
    """`bodies` are the texts of the configuration by their keys."""
    lang = lang or DEFAULT_LANG
    prefix = "template:"
    templates = {
        key.removeprefix(prefix): body for key, body in bodies.items() if key.startswith(prefix) and key != entry.template_key
    }
    strings: dict[str, Any] = {}
    for key in ("strings", f"strings:{lang}"):
        strings |= json.loads(bodies[key]) if key in bodies else {}
    options = {
        **entry.options,
        "data": data,
        "templates": templates,
        "strings": strings,
        "styles": [bodies[entry.style_key]] if entry.style_key else [],
        "lang": lang,
    }
    return RenderRequest("jinja", "pdf", bodies[entry.template_key].encode(), options, entry.engine)


def make_sections_request(content: bytes, lang: str) -> RenderRequest:
    """Of a document whose content came with the request."""
    source, data = template_of(json.loads(content))
    return RenderRequest("jinja", "pdf", source.encode(), {"data": data, "lang": lang or DEFAULT_LANG})


def find_entry(registry: list[RegistryEntry], doc_id: str) -> RegistryEntry:
    """Raises UnknownDocument (R12)."""
    for entry in registry:
        if entry.doc_id == doc_id:
            return entry
    raise UnknownDocument(doc_id, [entry.doc_id for entry in registry])
