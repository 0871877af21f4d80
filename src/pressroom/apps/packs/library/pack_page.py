"""The page of a pack: its documents, its data, its link, and what can be done with them."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from pressroom.apps.packs.library.views import describe_answer, pack_name, parse_number, render_page
from pressroom.apps.packs.model import ACTIVE, Pack
from pressroom.apps.packs.planning import ListedDocument
from pressroom.apps.packs.store import DataVersion, list_data_versions, read_data
from pressroom.errors import PressroomError, Refused
from pressroom.model import from_ms
from pressroom.store import Database
from pressroom.web.line_diff import DiffLine, diff_lines_in_thread
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

SHOWN_DATA = 100_000  # characters of a version's data
DAY = 24 * 3600
LIFETIMES = {"": None, "1d": DAY, "7d": 7 * DAY, "30d": 30 * DAY, "365d": 365 * DAY}


class ShownData(msgspec.Struct, frozen=True):
    """A version of the data as lines of JSON, and what changed since the one before. `text` is cut if it is too long."""

    number: int
    text: str
    is_cut: bool
    changes: list[DiffLine] | None = None


class DueDocuments(msgspec.Struct, frozen=True):
    """How many documents a render would make: those without an active job, and ready ones that are outdated."""

    missing: int
    outdated: int


class PackPages:
    def __init__(self, app: "PacksApp") -> None:
        self._packs = app.packs
        self._bundles = app.bundles
        self._link_ttl = app.settings.link_ttl

    async def show(self, request: PageRequest, pack_id: str) -> Response:
        pack = await self._packs.get(request.caller.org_id, pack_id)
        return await self.pack_page(request, pack)

    async def pack_page(self, request: PageRequest, pack: Pack, problem: PressroomError | None = None) -> Response:
        documents = await self._packs.documents(pack)
        versions = await request.read(partial(list_data_versions, pack.id))
        shown = await self._shown_data(request, pack, versions)
        return render_page(
            request,
            "pack.html",
            status=200 if problem is None else problem.status,
            pack=pack,
            documents=documents,
            due=count_due(documents),
            bundle=await self._bundles.find(pack),
            versions=versions,
            shown=shown,
            problem=problem,
            link_ttl=self._link_ttl,
            link_is_over=_link_is_over(request, pack),
        )

    async def _shown_data(self, request: PageRequest, pack: Pack, versions: list[DataVersion]) -> ShownData | None:
        asked = request.http.query_params.get("data")
        if not asked or not versions:
            return None
        number = parse_number(asked, "the number of a version of the data")
        database = self._packs.database
        text = await read_data_lines(database, pack, number)
        changes = None
        if number > 1:
            changes = await diff_lines_in_thread(await read_data_lines(database, pack, number - 1), text)
        return ShownData(number, text[:SHOWN_DATA], len(text) > SHOWN_DATA, changes)

    async def render_all(self, request: PageRequest, pack_id: str) -> Response:
        outdated = request.form.get("which") == "outdated"
        return await self._render(request, pack_id, partial(self._packs.render_all, outdated=outdated))

    async def render_one(self, request: PageRequest, pack_id: str, doc_id: str) -> Response:
        async def render(org_id: str | None, pack_id: str, **options: Any) -> Any:
            return await self._packs.render_one(org_id, pack_id, doc_id, **options)

        return await self._render(request, pack_id, render)

    async def _render(self, request: PageRequest, pack_id: str, render: Any) -> Response:
        """A refusal is shown on the page of the pack."""
        pack = await self._packs.get(request.caller.org_id, pack_id)
        trace = {"request_id": request.http.state.request_id}
        try:
            answer = await render(request.caller.org_id, pack.id, requested_by=request.caller.name, trace=trace)
        except Refused as refusal:
            return await self.pack_page(request, pack, refusal)
        documents = [job.doc_id for job in answer.jobs]
        if documents:
            await request.record_audit("pack.render", f"pack {pack.id}", after={"documents": documents})
        return request.redirect(f"/library/{pack.id}", describe_answer(answer))

    async def make_link(self, request: PageRequest, pack_id: str) -> Response:
        """The answer itself shows the link: an address or a cookie that led to it would be kept in a history or a log."""
        lifetime = request.form.get("lifetime")
        if lifetime not in LIFETIMES:
            raise page_error(f"a lifetime is one of {', '.join(filter(None, LIFETIMES))}, or nothing")
        pack, link = await self._packs.make_link(request.caller.org_id, pack_id, seconds=LIFETIMES[lifetime])
        assert pack.link_expires_at is not None
        expires_at = from_ms(pack.link_expires_at)
        await request.record_audit(
            "pack.link", f"pack {pack.id}", after={"expires_at": expires_at.isoformat(timespec="seconds")}
        )
        return request.page(
            "secret.html",
            title="A link to the pack",
            secret=f"{request.site.service.address_for(request.http)}/library/p/{link}",
            what=f"the link to “{pack_name(pack)}”, and works until {expires_at:%Y-%m-%d %H:%M} UTC",
            advice="Anyone holding this link can read the documents of this pack and download them, without a login. "
            "An earlier link to the pack works no longer.",
            back=f"/library/{pack.id}",
            back_to="To the pack",
        )

    async def withdraw_link(self, request: PageRequest, pack_id: str) -> Response:
        pack = await self._packs.withdraw_link(request.caller.org_id, pack_id)
        await request.record_audit("pack.withdraw_link", f"pack {pack.id}")
        return request.redirect(f"/library/{pack.id}", "The link is withdrawn. It works no longer.")

    async def delete(self, request: PageRequest, pack_id: str) -> Response:
        pack = await self._packs.get(request.caller.org_id, pack_id)
        await self._packs.delete(request.caller.org_id, pack.id)
        await request.record_audit("pack.delete", f"pack {pack.id}", before={"title": pack.title})
        return request.redirect(
            "/library/deleted", f"“{pack_name(pack)}” is deleted. Until it is purged, it can be restored here."
        )

    async def restore(self, request: PageRequest, pack_id: str) -> Response:
        pack = await self._packs.restore(request.caller.org_id, pack_id)
        await request.record_audit("pack.restore", f"pack {pack.id}")
        return request.redirect(f"/library/{pack.id}", "The pack is restored.")


def count_due(documents: Sequence[ListedDocument]) -> DueDocuments:
    available = [one for one in documents if one.document.is_available]
    missing = [one for one in available if one.renders is None or one.renders.latest.status not in ACTIVE]
    outdated = [one for one in available if one.outdated and one.renders and one.renders.latest.status == "ready"]
    return DueDocuments(len(missing), len(outdated))


def _link_is_over(request: PageRequest, pack: Pack) -> bool:
    return pack.link_expires_at is not None and pack.link_expires_at <= request.site.sessions.now_ms()


async def read_data_lines(database: Database, pack: Pack, number: int) -> str:
    """A version of a pack's data as indented JSON. Raises NotFound."""
    data = await database.read(partial(read_data, pack.id, number))
    return await asyncio.to_thread(json.dumps, data, indent=2, ensure_ascii=False)
