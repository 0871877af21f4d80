"""Many packs from one upload, and the files of a pack or a batch as one archive, over HTTP."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pressroom.api import idempotency
from pressroom.api.access import Scope
from pressroom.api.paging import NUMBER, next_page_link, parse_cursor, parse_limit
from pressroom.api.problems import HttpError
from pressroom.api.replies import matches, reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.packs.batches import openapi, store
from pressroom.apps.packs.batches.archives import list_batch_files, list_pack_files
from pressroom.apps.packs.batches.lines import LineFormat, check_header
from pressroom.apps.packs.batches.store import LINE_STATUSES, Batch
from pressroom.apps.packs.batches.views import BatchList, PackBatchView, batch_detail_view, batch_view
from pressroom.apps.packs.packs import check_text
from pressroom.apps.packs.request_parts import USER, UUID, trace_of, user_of
from pressroom.apps.packs.routes import PacksApi
from pressroom.apps.packs.zip_archive import ZipFile, archive_size, write_archive
from pressroom.artifacts.disposition import content_disposition
from pressroom.errors import NotFound
from pressroom.model import Job
from pressroom.store import Transaction

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

HEAD = 64 * 1024  # bytes of an upload that are looked at before the rest is read
_NO_STORE = {"Cache-Control": "no-store"}


def router(service: Service, app: "PacksApp") -> Routes:
    """These paths come before `/packs/{pack_id}`, which would match some of them."""
    routes = Routes("packs")
    api = BatchesApi(service, app)
    limit = app.settings.max_batch
    routes.add("/packs/batches", api.create_batch, "POST", body_limit=limit, **openapi.CREATE_BATCH)
    routes.add("/packs/batches", api.list_batches, "GET", **openapi.LIST_BATCHES)
    routes.add("/packs/batches/{batch_id}.zip", api.download_batch, "GET", **openapi.DOWNLOAD_BATCH)
    routes.add("/packs/batches/{batch_id}", api.get_batch, "GET", **openapi.GET_BATCH)
    routes.add("/packs/batches/{batch_id}/retry", api.retry_batch, "POST", small_body=True, **openapi.RETRY_BATCH)
    routes.add("/packs/{pack_id}.zip", api.download_pack, "GET", **openapi.DOWNLOAD_PACK)
    return routes


class BatchesApi:
    def __init__(self, service: Service, app: "PacksApp") -> None:
        self._service = service
        self._app = app
        self._batches = app.batches
        self._database = app.packs.database

    async def create_batch(self, request: Request) -> Response:
        """A pack from each line of an upload, and all of their documents. The upload is kept first, then taken in by a job."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        format, user = _parse_format(request), user_of(request) or ""
        check_text(USER, user)
        draft = await self._batches.store_upload(format, _checked(format, request.stream()))
        body = f"{format} {draft.sha256}".encode()

        async def act(_: Transaction | None) -> Response:
            batch, is_new = await self._batches.start(
                caller.org_id, format, draft, author=caller.name, user=user, trace=trace_of(request)
            )
            location = f"{self._service.base_url}/packs/batches/{batch.id}"
            return reply(await self._view(batch), status=202 if is_new else 200, headers={"Location": location})

        return await idempotency.act_or_replay(self._service, request, caller, body, act)

    async def list_batches(self, request: Request) -> Response:
        """Batches, newest first."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        limit, cursor = parse_limit(request), parse_cursor(request, UUID) or ""
        unit = partial(store.list_batches, caller.org_id or "", before=cursor, limit=limit + 1)
        found = await self._database.read(unit)
        following = found[limit - 1].id if len(found) > limit else None
        headers = next_page_link(self._service, request, following) | _NO_STORE
        return reply(BatchList([await self._view(one) for one in found[:limit]], following), headers=headers)

    async def get_batch(self, request: Request, batch_id: str) -> Response:
        """How far a batch is, and what became of its lines, in their order."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        status = request.query_params.get("status", "")
        if status not in ("", *LINE_STATUSES):
            raise HttpError(422, "invalid_argument", f"status is one of {', '.join(LINE_STATUSES)}")
        limit, after = parse_limit(request), int(parse_cursor(request, NUMBER) or 0)
        batch = await self._batches.get(caller.org_id, batch_id)
        unit = partial(store.read_progress, batch.id, status=status, after=after, limit=limit + 1)
        counts, lines = await self._database.read(unit)
        following = str(lines[limit - 1].number) if len(lines) > limit else None
        job = await self._find_job(batch)
        view = batch_detail_view(batch, job, counts, self._service.base_url, lines[:limit], following)
        return reply(view, headers=next_page_link(self._service, request, following) | _NO_STORE)

    async def retry_batch(self, request: Request, batch_id: str) -> Response:
        """Request the failed lines of a batch again, and take in those that it did not come to."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        batch = await self._batches.retry(caller.org_id, batch_id, trace_of(request))
        return reply(await self._view(batch), status=202)

    async def download_batch(self, request: Request, batch_id: str) -> Response:
        """Every ready file of a batch as one zip archive, in a folder for each line."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        batch = await self._batches.get(caller.org_id, batch_id)
        files = await list_batch_files(self._database, batch.id, len(str(batch.lines or 0)))
        return await self._archive(request, files, f"batch-{batch.id}.zip")

    async def download_pack(self, request: Request, pack_id: str) -> Response:
        """Every ready file of a pack as one zip archive."""
        pack, caller = await PacksApi(self._service, self._app).pack_for_reading(request, pack_id)
        files = await list_pack_files(self._app.packs, pack, by_link=caller is None)
        return await self._archive(request, files, f"{pack.title.replace('/', '-') or 'pack'}.zip")

    async def _archive(self, request: Request, files: Sequence[ZipFile], filename: str) -> Response:
        tag, size = await asyncio.to_thread(_measure, files)  # there may be a hundred thousand
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if matches(request.headers.get("if-none-match"), tag):
            return Response(status_code=304, headers=headers)
        headers |= {"Content-Length": str(size), "Content-Disposition": content_disposition(filename)}
        return StreamingResponse(write_archive(files, self._service.rendering.blobs.get), 200, headers, "application/zip")

    async def _view(self, batch: Batch) -> PackBatchView:
        counts = await self._database.read(partial(store.count_lines, batch.id))
        return batch_view(batch, await self._find_job(batch), counts, self._service.base_url)

    async def _find_job(self, batch: Batch) -> Job | None:
        """None once it was pruned."""
        try:
            return await self._app.queue.get(batch.job_uid)
        except NotFound:
            return None


def _measure(files: Sequence[ZipFile]) -> tuple[str, int]:
    digest = hashlib.sha256()
    for file in files:
        digest.update(repr(tuple(file)).encode())
    return f'"{digest.hexdigest()[:32]}"', archive_size(files)


def _parse_format(request: Request) -> LineFormat:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    found = openapi.CONTENT_TYPES.get(given)
    if found is None:
        names = ", ".join(openapi.CONTENT_TYPES)
        raise HttpError(415, "unsupported_batch_type", f"a batch is sent as one of {names}, not {given[:100]!r}")
    return found


async def _checked(format: LineFormat, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes; an upload without a line, or a table without a header, is refused before the rest is read."""
    head, is_checked = b"", False
    async for chunk in chunks:
        if is_checked:
            yield chunk
            continue
        head += chunk
        if len(head) >= HEAD or b"\n" in head.strip():
            check_header(format, head[:HEAD])
            is_checked = True
            yield head
    if not is_checked:
        check_header(format, head)
        yield head
