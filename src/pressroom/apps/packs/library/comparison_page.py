"""Two versions of a document: what changed in data, templates and engines, and beside it what changed in the file."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.apps.packs.library.document_page import DocumentPages, png_response
from pressroom.apps.packs.library.pack_page import read_data_lines
from pressroom.apps.packs.library.pdf_views import ComparedFiles, PdfViews
from pressroom.apps.packs.library.views import parse_number, render_page, require_doc_id
from pressroom.apps.packs.model import Pack, PackRender
from pressroom.errors import NotFound, PressroomError
from pressroom.store.artifacts.artifacts import Artifact
from pressroom.web.line_diff import DiffLine, diff_lines_in_thread
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

SHOWN_VERSIONS = 100  # to choose from
SHOWN_PAGES = 20  # whose text changed


class ChangedText(msgspec.Struct, frozen=True):
    """A text of the configuration of which the two versions used different ones. `lines` is None if they are too long."""

    key: str
    before: int
    after: int
    lines: list[DiffLine] | None


class ChangedPage(msgspec.Struct, frozen=True):
    page: int
    lines: list[DiffLine] | None


class VersionComparisonPage:
    def __init__(self, app: "PacksApp", views: PdfViews) -> None:
        self._app = app
        self._packs = app.packs
        self._views = views
        self._documents = DocumentPages(app, views)

    async def show(self, request: PageRequest, pack_id: str, doc_id: str) -> Response:
        """`?a=&b=` are numbers of versions, by default the two newest that are ready; `?page=` is the page that is shown."""
        pack = await self._packs.get(request.caller.org_id, pack_id)
        renders = await self._packs.renders(pack, require_doc_id(doc_id), limit=SHOWN_VERSIONS)
        before, after = await self._chosen(request, pack, doc_id, renders)
        files = [await self._file_of(pack, one) for one in (before, after)]
        compared, problem = await self._compare_files(pack, files)
        pages = await _changed_pages(compared)
        listed = await self._documents.find_document(pack, doc_id)
        asked = request.http.query_params.get("page")
        page = parse_number(asked, "the number of a page") if asked else next((one.page for one in pages), 1)
        return render_page(
            request,
            "comparison.html",
            pack=pack,
            doc_id=doc_id,
            title=listed.document.title if listed else doc_id,
            before=before,
            after=after,
            numbers=sorted({*(one.number for one in renders), before.number, after.number}, reverse=True),
            data=await self._changed_data(pack, before, after),
            texts=await self._changed_texts(pack, before, after),
            engines=_changed_engines(before, after),
            compared=compared,
            problem=problem,
            pages=pages[:SHOWN_PAGES],
            changed_count=len(pages),
            page=page,
            page_count=max(compared.page_counts) if compared else 0,
        )

    async def _chosen(
        self, request: PageRequest, pack: Pack, doc_id: str, renders: Sequence[PackRender]
    ) -> tuple[PackRender, PackRender]:
        asked = request.http.query_params
        ready = [one.number for one in renders if one.outcome == "ready"]
        newest = ready or [one.number for one in renders]
        if not newest:
            raise NotFound(f"the document {doc_id[:64]!r} has no versions to compare")
        b = parse_number(asked["b"]) if asked.get("b") else newest[0]
        a = parse_number(asked["a"]) if asked.get("a") else next((number for number in newest if number < b), b)
        return await self._find_version(pack, doc_id, a), await self._find_version(pack, doc_id, b)

    async def _find_version(self, pack: Pack, doc_id: str, number: int) -> PackRender:
        found = await self._packs.find_render(pack, doc_id, number)
        if found is None:
            raise NotFound(f"the document {doc_id[:64]!r} has no version {number}")
        return found

    async def _file_of(self, pack: Pack, render: PackRender) -> Artifact | None:
        """None for one that has none, or none any more."""
        try:
            return (await self._documents.find_file(pack, render.doc_id, render.number))[1]
        except NotFound:
            return None

    async def _compare_files(
        self, pack: Pack, files: Sequence[Artifact | None]
    ) -> tuple[ComparedFiles | None, PressroomError | None]:
        before, after = files
        if before is None or after is None:
            return None, None
        try:
            return await self._views.compare(before, after, pack.org_id), None
        except PressroomError as problem:  # the reasons are shown all the same
            return None, problem

    async def _changed_data(self, pack: Pack, before: PackRender, after: PackRender) -> list[DiffLine] | None:
        if before.data_version == after.data_version:
            return []
        texts = [await read_data_lines(self._packs.database, pack, one.data_version) for one in (before, after)]
        return await diff_lines_in_thread(*texts)

    async def _changed_texts(self, pack: Pack, before: PackRender, after: PackRender) -> list[ChangedText]:
        """Without the registry if what it says of this document stayed the same."""
        keys = sorted(before.config.keys() | after.config.keys())
        if before.entry_sha256 == after.entry_sha256:
            keys = [key for key in keys if key != REGISTRY]
        numbers = [(key, before.config.get(key, 0), after.config.get(key, 0)) for key in keys]
        changed = []
        for key, old, new in numbers:
            if old != new:
                texts = [await self._read_text(pack, key, number) for number in (old, new)]
                changed.append(ChangedText(key, old, new, await diff_lines_in_thread(*texts)))
        return changed

    async def _read_text(self, pack: Pack, key: str, number: int) -> str:
        if not number:
            return ""
        return await self._packs.database.read(partial(versions.read_body, pack.org_id, key, number))

    async def send_overlay(self, request: PageRequest, pack_id: str, doc_id: str) -> Response:
        """`?a=&b=&page=`: one page of two versions on top of each other."""
        pack = await self._packs.get(request.caller.org_id, pack_id)
        asked = request.http.query_params
        a, b = (parse_number(asked.get(name, "")) for name in "ab")
        page = parse_number(asked.get("page", "1"), "the number of a page")
        before, after = [(await self._documents.find_file(pack, doc_id, number))[1] for number in (a, b)]
        return png_response(await self._views.overlay(before, after, pack.org_id, page))


def _changed_engines(before: PackRender, after: PackRender) -> list[tuple[str, str, str]]:
    """Name, version before and version after. None of a render that made nothing."""
    if not before.engines or not after.engines:
        return []
    names = sorted(before.engines.keys() | after.engines.keys())
    pairs = [(name, before.engines.get(name, ""), after.engines.get(name, "")) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]


async def _changed_pages(compared: ComparedFiles | None) -> list[ChangedPage]:
    """The pages whose text changed. Lines are compared for those that are shown."""
    changed = [one for one in compared.pages if not one.same] if compared else []
    return [
        ChangedPage(one.page, await diff_lines_in_thread(one.before or "", one.after or "") if at < SHOWN_PAGES else None)
        for at, one in enumerate(changed)
    ]
