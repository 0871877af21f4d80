"""One PDF of a pack's documents: requested and downloaded from the page of the pack."""

from typing import TYPE_CHECKING

import msgspec
from starlette.responses import RedirectResponse, Response

from pressroom import artifact_lifecycle
from pressroom.apps.packs.bundles.model import BundleRequest
from pressroom.apps.packs.library.pack_page import PackPages
from pressroom.errors import NotFound, Refused
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

_NO_STORE = {"Cache-Control": "no-store"}


class BundlePages:
    def __init__(self, app: "PacksApp", packs: PackPages) -> None:
        self._app = app
        self._pages = packs

    async def request_bundle(self, request: PageRequest, pack_id: str) -> Response:
        """A refusal is shown on the page of the pack."""
        pack = await self._app.packs.get(request.caller.org_id, pack_id)
        wanted = _read_form(request)
        try:
            requested = await self._app.bundles.request(
                request.caller.org_id,
                pack.id,
                wanted,
                requested_by=request.caller.name,
                trace={"request_id": request.http.state.request_id},
            )
        except Refused as refusal:
            return await self._pages.pack_page(request, pack, refusal)
        documents = {"documents": requested.documents}
        await request.record_audit("pack.bundle", f"pack {pack.id}", after=documents)
        left_out = f" Not ready, and left out: {', '.join(requested.missing)}." if requested.missing else ""
        count = len(requested.documents)
        message = f"One PDF of {count} {'document' if count == 1 else 'documents'} is queued.{left_out}"
        return request.redirect(f"/library/{pack.id}", message)

    async def download(self, request: PageRequest, pack_id: str) -> Response:
        """The newest one that is ready."""
        pack = await self._app.packs.get(request.caller.org_id, pack_id)
        good = (await self._app.bundles.find(pack)).good
        if good is None or good.artifact is None:
            raise NotFound("no PDF of all documents of this pack is ready")
        artifact = await self._app.rendering.artifact(good.artifact)
        key = artifact_lifecycle.blob_key(artifact)
        filename = f"{pack.title.replace('/', '-') or 'pack'}.pdf"
        url = await request.site.service.rendering.blobs.url(key, media_type=artifact.media_type, filename=filename)
        return RedirectResponse(f"{request.site.prefix}{url}" if url.startswith("/") else url, 302, _NO_STORE)


def _read_form(request: PageRequest) -> BundleRequest:
    wanted = {name: bool(request.form.get(name)) for name in ("contents", "page_numbers")}
    try:
        return msgspec.convert(wanted | {"stamp": request.form.get("stamp").strip()}, BundleRequest)
    except msgspec.ValidationError as error:
        raise page_error(str(error)) from None
