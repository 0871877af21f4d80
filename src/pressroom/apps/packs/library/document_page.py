"""The page of a document: each of its versions, with its file and a picture of its first page."""

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response, StreamingResponse

from pressroom import artifact_lifecycle
from pressroom.apps.packs.batches.archives import list_pack_files
from pressroom.apps.packs.library.pdf_views import LARGE, SMALL, PdfViews
from pressroom.apps.packs.library.views import parse_number, render_page, require_doc_id
from pressroom.apps.packs.model import Pack, PackRender
from pressroom.apps.packs.planning import ListedDocument
from pressroom.apps.packs.zip_archive import archive_size, write_archive
from pressroom.artifacts.disposition import content_disposition
from pressroom.errors import NotFound
from pressroom.store.artifacts.artifacts import Artifact
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

PAGE_SIZE = 50
_NO_STORE = {"Cache-Control": "no-store"}
_PICTURE_HEADERS = {
    "Cache-Control": "private, max-age=86400",
    "Vary": "Cookie",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
}


class DocumentPages:
    def __init__(self, app: "PacksApp", views: PdfViews) -> None:
        self._app = app
        self._packs = app.packs
        self._views = views

    async def show(self, request: PageRequest, pack_id: str, doc_id: str) -> Response:
        pack = await self._packs.get(request.caller.org_id, pack_id)
        return await self.versions_page(request, pack, require_doc_id(doc_id), f"/library/{pack.id}")

    async def versions_page(
        self,
        request: PageRequest,
        pack: Pack,
        doc_id: str,
        base: str,
        *,
        by_link: bool = False,
        template: str = "document.html",
    ) -> Response:
        """Of a document in the registry, or of one that was and has versions. `base` is the address of the pack."""
        listed = await self.find_document(pack, doc_id)
        before = request.http.query_params.get("cursor")
        limit = {"before": parse_number(before)} if before else {}
        renders = await self._packs.renders(pack, doc_id, limit=PAGE_SIZE + 1, **limit)
        if listed is None and (not renders or by_link):
            raise NotFound(f"the pack has no document {doc_id[:64]!r}")
        return render_page(
            request,
            template,
            pack=pack,
            doc_id=doc_id,
            listed=listed,
            title=listed.document.title if listed else doc_id,
            renders=renders[:PAGE_SIZE],
            kept=await self._packs.kept_versions(pack, doc_id),
            cursor=renders[PAGE_SIZE - 1].number if len(renders) > PAGE_SIZE else None,
            first=bool(before),
            base=base,
        )

    async def find_document(self, pack: Pack, doc_id: str) -> ListedDocument | None:
        return next((one for one in await self._packs.documents(pack) if one.document.doc_id == doc_id), None)

    async def download(self, request: PageRequest, pack_id: str, doc_id: str, number: str) -> Response:
        pack = await self._packs.get(request.caller.org_id, pack_id)
        return await self.redirect_to_file(request, pack, doc_id, number)

    async def redirect_to_file(self, request: PageRequest, pack: Pack, doc_id: str, number: str) -> Response:
        """To a link that works for ten minutes."""
        _, artifact = await self.find_file(pack, doc_id, parse_number(number))
        key = artifact_lifecycle.blob_key(artifact)
        service = request.site.service
        url = await service.rendering.blobs.url(key, media_type=artifact.media_type, filename=f"{doc_id}.pdf")
        return RedirectResponse(f"{request.site.prefix}{url}" if url.startswith("/") else url, 302, _NO_STORE)

    async def download_all(self, request: PageRequest, pack_id: str) -> Response:
        return await self.archive(request, await self._packs.get(request.caller.org_id, pack_id))

    async def archive(self, request: PageRequest, pack: Pack, *, for_holder: bool = False) -> Response:
        """Every ready file of a pack as one zip archive; for a holder of its link, without those of locked documents."""
        files = await list_pack_files(self._packs, pack, by_link=for_holder)
        filename = f"{pack.title.replace('/', '-') or 'pack'}.zip"
        headers = {"Content-Length": str(archive_size(files)), "Content-Disposition": content_disposition(filename)}
        chunks = write_archive(files, request.site.service.rendering.blobs.get)
        return StreamingResponse(chunks, 200, headers | _NO_STORE, "application/zip")

    async def send_picture(self, request: PageRequest, pack_id: str, doc_id: str, number: str) -> Response:
        pack = await self._packs.get(request.caller.org_id, pack_id)
        return await self.picture(request, pack, doc_id, number)

    async def picture(self, request: PageRequest, pack: Pack, doc_id: str, number: str) -> Response:
        """Page 1 as PNG, or `?page=`; `?large` is for reading, otherwise it is for lists. A version's file never changes."""
        asked = request.http.query_params
        page = parse_number(asked.get("page", "1"), "the number of a page")
        _, artifact = await self.find_file(pack, doc_id, parse_number(number))
        width = LARGE if "large" in asked else SMALL
        return png_response(await self._views.picture(artifact, pack.org_id, page, width))

    async def find_file(self, pack: Pack, doc_id: str, number: int) -> tuple[PackRender, Artifact]:
        """Raises NotFound for a version that has no file, or none any more."""
        render = await self._packs.find_render(pack, require_doc_id(doc_id), number)
        if render is None or render.artifact is None:
            raise NotFound(f"the document {doc_id[:64]!r} has no version {number} with a file")
        return render, await self._app.rendering.artifact(render.artifact)


def png_response(data: bytes) -> Response:
    return Response(data, 200, _PICTURE_HEADERS, "image/png")
