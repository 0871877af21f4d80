"""`/packs` and `/files`: packs, their documents and their files over HTTP."""

import asyncio
import re
from collections.abc import AsyncGenerator
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pressroom import artifact_lifecycle
from pressroom.api import idempotency, streams
from pressroom.api.access import Caller, Scope
from pressroom.api.events import parse_last_event_id
from pressroom.api.paging import next_page_link, parse_cursor, parse_limit
from pressroom.api.problems import HttpError
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.packs import openapi
from pressroom.apps.packs.bundles import routes as bundle_routes
from pressroom.apps.packs.bundles.model import PackBundle
from pressroom.apps.packs.errors import PackNotFound
from pressroom.apps.packs.model import Pack, PackDraft, PackRender, parse_id, to_uuid
from pressroom.apps.packs.request_parts import LONGEST_LINK, USER, UUID, decode_body, parse_flag, trace_of, user_of
from pressroom.apps.packs.store import PackFilter, list_data_versions, read_data
from pressroom.apps.packs.views import (
    DataSent,
    DocumentRenderView,
    DocumentsView,
    FileLink,
    LinkView,
    RendersView,
    UserDocumentsView,
    UserFilesView,
    document_view,
    pack_detail_view,
    pack_list,
    pack_view,
    render_answer_view,
    render_view,
    user_file_view,
)
from pressroom.artifacts import LINK_SECONDS
from pressroom.artifacts.presign import max_lifetime
from pressroom.errors import NotFound, PressroomError
from pressroom.model import Event
from pressroom.store import Transaction
from pressroom.store.jobs import queries

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

_STATUSES = ("queued", "rendering", "ready", "failed")
_NO_STORE = {"Cache-Control": "no-store"}


def router(service: Service, app: "PacksApp") -> Routes:
    routes = Routes("packs")
    api = PacksApi(service, app)
    routes.add("/packs", api.create_pack, "POST", **openapi.CREATE_PACK)
    routes.add("/packs", api.list_packs, "GET", **openapi.LIST_PACKS)
    routes.add("/me/packs", api.list_my_packs, "GET", **openapi.LIST_MY_PACKS)
    routes.add("/me/files", api.list_my_files, "GET", **openapi.LIST_MY_FILES)
    routes.add("/me/documents", api.list_my_documents, "GET", **openapi.LIST_MY_DOCUMENTS)
    routes.add("/packs/{pack_id}", api.get_pack, "GET", **openapi.GET_PACK)
    routes.add("/packs/{pack_id}", api.delete_pack, "DELETE", small_body=True, **openapi.DELETE_PACK)
    routes.add("/packs/{pack_id}/restore", api.restore_pack, "POST", small_body=True, **openapi.RESTORE_PACK)
    routes.add("/packs/{pack_id}/data", api.put_pack_data, "PUT", **openapi.PUT_DATA)
    routes.add("/packs/{pack_id}/link", api.make_pack_link, "POST", small_body=True, **openapi.MAKE_LINK)
    routes.add("/packs/{pack_id}/link", api.withdraw_pack_link, "DELETE", small_body=True, **openapi.WITHDRAW_LINK)
    routes.add("/packs/{pack_id}/render", api.render_pack, "POST", small_body=True, **openapi.RENDER_PACK)
    routes.add("/packs/{pack_id}/render/{doc_id}", api.render_document, "POST", small_body=True, **openapi.RENDER_DOCUMENT)
    routes.add("/packs/{pack_id}/documents", api.list_documents, "GET", **openapi.LIST_DOCUMENTS)
    routes.add("/packs/{pack_id}/documents/{doc_id}", api.list_document_versions, "GET", **openapi.LIST_VERSIONS)
    routes.add("/packs/{pack_id}/events", api.watch_pack, "GET", **openapi.WATCH_PACK)
    routes.add("/files/{file_id}/download", api.download_file, "GET", **openapi.DOWNLOAD_FILE)
    bundle_routes.add_routes(routes, service, app.bundles, api.pack_for_reading)
    return routes


class PacksApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "PacksApp") -> None:
        self._service = service
        self._app = app
        self._packs = app.packs

    async def create_pack(self, request: Request) -> Response:
        """A pack from its data. Nothing is rendered yet."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        body = await request.body()
        draft = decode_body(body, PackDraft)
        if user := user_of(request):
            draft = msgspec.structs.replace(draft, user=user)

        new = await asyncio.to_thread(self._packs.check, draft, caller.name)

        async def act(tx: Transaction | None) -> Response:
            pack = await self._packs.insert(caller.org_id, new, within=tx)
            location = f"{self._service.base_url}/packs/{pack.id}"
            return reply(pack_view(pack, self._service.base_url), status=201, headers={"Location": location})

        return await idempotency.act_once(self._service, request, caller, body, act)

    async def list_packs(self, request: Request) -> Response:
        """Packs, newest first."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        asked = request.query_params
        status = asked.get("status", "")
        if status not in ("", *_STATUSES):
            raise HttpError(422, "invalid_argument", f"status is one of {', '.join(_STATUSES)}")
        user, session, text = (asked.get(name, "").replace("\0", " ") for name in ("user", "session", "q"))
        wanted = PackFilter(user_id=user, session_id=session, status=status, text=text)
        return await self._pack_list(request, caller, wanted)

    async def list_my_packs(self, request: Request) -> Response:
        """The packs of the user named in Pressroom-User, newest first."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        return await self._pack_list(request, caller, PackFilter(user_id=_require_user(request)))

    async def _pack_list(self, request: Request, caller: Caller, wanted: PackFilter) -> Response:
        limit, cursor = parse_limit(request), parse_cursor(request, UUID) or ""
        found, more = await self._packs.list(caller.org_id, wanted, cursor=cursor, limit=limit)
        headers = {"Cache-Control": "private, no-cache"} | next_page_link(self._service, request, more)
        return reply(pack_list(found, more, self._service.base_url), headers=headers)

    async def list_my_files(self, request: Request) -> Response:
        """The newest ready file of each document of a user's packs."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        files = await self._packs.files_of_user(caller.org_id, _require_user(request))
        return reply(UserFilesView([user_file_view(file) for file in files]))

    async def list_my_documents(self, request: Request) -> Response:
        """The documents of a user's newest packs."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        found, _ = await self._packs.list(caller.org_id, PackFilter(user_id=_require_user(request)), limit=20)
        packs = []
        for one in found:
            documents = await self._packs.documents(one.pack)
            packs.append(DocumentsView(one.pack.id, [document_view(document, self._app.settings) for document in documents]))
        return reply(UserDocumentsView(packs))

    async def get_pack(self, request: Request, pack_id: str) -> Response:
        """A pack with the newest version of its data."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        pack = await self._packs.get(caller.org_id, pack_id, user=user_of(request))
        data = await self._packs.database.read(partial(read_data, pack.id, pack.data_version))
        versions = await self._packs.database.read(partial(list_data_versions, pack.id))
        return reply(pack_detail_view(pack, self._service.base_url, data, versions), request=request)

    async def delete_pack(self, request: Request, pack_id: str) -> Response:
        """Delete a pack. It can be restored until its retention is over; its link stops working at once."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        await self._packs.get(caller.org_id, pack_id, user=user_of(request))
        await self._packs.delete(caller.org_id, pack_id)
        return Response(status_code=204)

    async def restore_pack(self, request: Request, pack_id: str) -> Response:
        """Restore a deleted pack."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        return reply(pack_view(await self._packs.restore(caller.org_id, pack_id), self._service.base_url))

    async def put_pack_data(self, request: Request, pack_id: str) -> Response:
        """Replace the data of a pack. Earlier versions stay: each render names the one that it was made from."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        sent = decode_body(await request.body(), DataSent)
        await self._packs.get(caller.org_id, pack_id, user=user_of(request))
        expected = _parse_expected_version(request.headers.get("if-match"))
        pack = await self._packs.save_data(caller.org_id, pack_id, sent.data, caller.name, expected=expected)
        headers = {"ETag": f'"{pack.data_version}"'}
        return reply(pack_view(pack, self._service.base_url), headers=headers)

    async def make_pack_link(self, request: Request, pack_id: str) -> Response:
        """A link by which an end user reads this pack without a token. The link before stops working."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        await self._packs.get(caller.org_id, pack_id, user=user_of(request))
        pack, link = await self._packs.make_link(caller.org_id, pack_id, seconds=_parse_seconds(request))
        library = f"{self._service.base_url}/library/p/{link}"
        view = LinkView(link, library, pack_view(pack, self._service.base_url).link_expires_at)
        return reply(view, status=201, headers=_NO_STORE)

    async def withdraw_pack_link(self, request: Request, pack_id: str) -> Response:
        """The pack's link stops working."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        await self._packs.get(caller.org_id, pack_id, user=user_of(request))
        await self._packs.withdraw_link(caller.org_id, pack_id)
        return Response(status_code=204)

    async def render_pack(self, request: Request, pack_id: str) -> Response:
        """Render every available document of a pack that has no active job, where active is queued, rendering or ready."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)

        async def act(_: Transaction | None) -> Response:
            answer = await self._packs.render_all(
                caller.org_id,
                pack_id,
                requested_by=caller.name,
                force=parse_flag(request, "force"),
                outdated=parse_flag(request, "outdated"),
                user=user_of(request),
                trace=trace_of(request),
            )
            return reply(render_answer_view(answer))

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def render_document(self, request: Request, pack_id: str, doc_id: str) -> Response:
        """Render one document anew, also if it is ready."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)

        async def act(_: Transaction | None) -> Response:
            answer = await self._packs.render_one(
                caller.org_id,
                pack_id,
                doc_id,
                requested_by=caller.name,
                user=user_of(request),
                trace=trace_of(request),
            )
            (job,) = answer.jobs
            return reply(
                DocumentRenderView(
                    ok=True, pack_id=answer.pack.id, doc_id=doc_id, job_id=to_uuid(job.job_uid), version=job.number
                )
            )

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def list_documents(self, request: Request, pack_id: str) -> Response:
        """The documents of a pack with their statuses."""
        pack, caller = await self.pack_for_reading(request, pack_id)
        by_link = caller is None
        documents = await self._packs.documents(pack, for_holder=by_link)
        view = DocumentsView(pack.id, [document_view(one, self._app.settings, for_holder=by_link) for one in documents])
        return reply(view, request=request, headers={"Cache-Control": "private, no-cache"})

    async def list_document_versions(self, request: Request, pack_id: str, doc_id: str) -> Response:
        """Every version of a document, newest first."""
        pack, caller = await self.pack_for_reading(request, pack_id)
        by_link = caller is None
        if by_link:
            await self._require_available(pack, doc_id)
        renders = await self._packs.renders(pack, doc_id)
        view = RendersView(pack.id, doc_id, [render_view(one, for_holder=by_link) for one in renders])
        return reply(view, request=request, headers={"Cache-Control": "private, no-cache"})

    async def watch_pack(self, request: Request, pack_id: str) -> Response:
        """The events of the pack's jobs as they happen, from now on or from where it is resumed. Does not end by itself."""
        pack, caller = await self.pack_for_reading(request, pack_id)
        after = parse_last_event_id(request)
        if after is None:
            after = await self._packs.database.read(queries.last_event_id)

        async def still_admitted() -> bool:
            if caller is not None:
                return await self._service.gate.still_admits(request, caller)
            try:
                return (await self._packs.get_by_link(request.query_params["link"])).id == pack.id
            except PressroomError:
                return False

        events = self._packs.events(pack, after)
        if caller is None:
            events = _without_errors(events)
        return streams.respond(events, self._service.closing, self._service.metrics, after=after, still_admitted=still_admitted)

    async def download_file(self, request: Request, file_id: str) -> Response:
        """A link to a file that works without a token for ten minutes."""
        org_id, by_link = await self._org_of_reader(request)
        render, artifact = await self._packs.find_file(org_id, file_id)
        if by_link is not None and not await self._is_for_link_holders(by_link, render):
            raise PackNotFound
        if by_link is None and (user := user_of(request)) is not None:
            await self._packs.get(org_id, render.pack, user=user)
        key = artifact_lifecycle.blob_key(artifact)
        url = await self._service.rendering.blobs.url(key, media_type=artifact.media_type, filename=render.filename)
        url = f"{self._service.base_url}{url}" if url.startswith("/") else url
        if parse_flag(request, "redirect"):
            return RedirectResponse(url, 302, _NO_STORE)
        return reply(FileLink(url, max_lifetime(url) or LINK_SECONDS), headers=_NO_STORE)

    async def _is_for_link_holders(self, pack: Pack, file: PackRender | PackBundle) -> bool:
        """What a link leads to: the pack's documents that are neither locked nor disabled now, and bundles of such ones."""
        if file.pack != pack.id:
            return False
        contained = file.versions.keys() if isinstance(file, PackBundle) else {file.doc_id}
        return contained <= await self._available(pack)

    async def _require_available(self, pack: Pack, doc_id: str) -> None:
        """For a holder of the pack's link: a document that is locked or disabled is none, as on the pages."""
        if doc_id not in await self._available(pack):
            raise NotFound("there is no such document")

    async def _available(self, pack: Pack) -> set[str]:
        return {one.document.doc_id for one in await self._packs.documents(pack) if one.document.is_available}

    async def pack_for_reading(self, request: Request, pack_id: str) -> tuple[Pack, Caller | None]:
        """For a caller with a token, or for one with the pack's link."""
        if link := request.query_params.get("link"):
            pack = await self._packs.get_by_link(link)
            if pack.id != parse_id(pack_id):
                raise PackNotFound
            return pack, None
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        return await self._packs.get(caller.org_id, pack_id, user=user_of(request)), caller

    async def _org_of_reader(self, request: Request) -> tuple[str | None, Pack | None]:
        if link := request.query_params.get("link"):
            pack = await self._packs.get_by_link(link)
            return pack.org_id, pack
        return (await self._service.gate.caller(request, Scope.VIEWER)).org_id, None


async def _without_errors(events: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
    """For holders of a link: an error names templates and fields of the data."""
    try:
        async for event in events:
            yield msgspec.structs.replace(event, data={name: value for name, value in event.data.items() if name != "error"})
    finally:
        await events.aclose()


def _require_user(request: Request) -> str:
    user = user_of(request)
    if user is None:
        raise HttpError(422, "user_missing", f"name the user in the header {USER}")
    return user


def _parse_expected_version(condition: str | None) -> int | None:
    if condition is None or condition.strip() == "*":
        return None
    found = re.fullmatch(r'(?:W/)?"(\d{1,9})"', condition.strip())
    if found is None:
        raise HttpError(422, "invalid_argument", 'If-Match is the version of the data in quotes, such as "3"')
    return int(found[1])


def _parse_seconds(request: Request) -> float | None:
    text = request.query_params.get("seconds")
    if text is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise HttpError(422, "invalid_argument", f"seconds is a whole number from 1 to {LONGEST_LINK}")
    return float(text)
