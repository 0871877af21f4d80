"""The library for the holder of a pack's link, without a login: this pack alone, its documents and their files, and no data.

Documents that are hidden from holders do not exist here, and locked ones are only named. A link that is wrong, withdrawn or
over leads to a plain page that says so.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.responses import Response

from pressroom.apps.packs.library.document_page import DocumentPages
from pressroom.apps.packs.library.pdf_views import PdfViews
from pressroom.apps.packs.library.views import render_page
from pressroom.apps.packs.model import Pack
from pressroom.errors import NotFound
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp


class LinkPages:
    def __init__(self, app: "PacksApp", views: PdfViews) -> None:
        self._packs = app.packs
        self._documents = DocumentPages(app, views)

    async def show(self, request: PageRequest, link: str) -> Response:
        async def answer(pack: Pack) -> Response:
            documents = await self._packs.documents(pack, for_holder=True)
            return render_page(request, "link_pack.html", pack=pack, documents=documents, link=link, base=f"/library/p/{link}")

        return await self._for_holder(request, link, answer)

    async def show_document(self, request: PageRequest, link: str, doc_id: str) -> Response:
        async def answer(pack: Pack) -> Response:
            await self._require_available(pack, doc_id)
            base = f"/library/p/{link}"
            return await self._documents.versions_page(request, pack, doc_id, base, by_link=True, template="link_document.html")

        return await self._for_holder(request, link, answer)

    async def download(self, request: PageRequest, link: str, doc_id: str, number: str) -> Response:
        async def answer(pack: Pack) -> Response:
            await self._require_available(pack, doc_id)
            return await self._documents.redirect_to_file(request, pack, doc_id, number)

        return await self._for_holder(request, link, answer)

    async def download_all(self, request: PageRequest, link: str) -> Response:
        async def answer(pack: Pack) -> Response:
            return await self._documents.archive(request, pack, for_holder=True)

        return await self._for_holder(request, link, answer)

    async def send_picture(self, request: PageRequest, link: str, doc_id: str, number: str) -> Response:
        async def answer(pack: Pack) -> Response:
            await self._require_available(pack, doc_id)
            return await self._documents.picture(request, pack, doc_id, number)

        return await self._for_holder(request, link, answer)

    async def _for_holder(self, request: PageRequest, link: str, answer: Callable[[Pack], Awaitable[Response]]) -> Response:
        try:
            response = await answer(await self._packs.get_by_link(link))
        except NotFound:
            response = render_page(request, "link_gone.html", status=404)
        response.headers["X-Robots-Tag"] = "noindex"
        return response

    async def _require_available(self, pack: Pack, doc_id: str) -> None:
        listed = await self._documents.find_document(pack, doc_id)
        if listed is None or not listed.document.is_available:
            raise NotFound("there is no such document")
