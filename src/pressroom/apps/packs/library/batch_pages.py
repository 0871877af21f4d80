"""Batches as pages: how far each is, what became of its lines, a retry, and a new one from pasted lines."""

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from pressroom.apps.packs.batches import store
from pressroom.apps.packs.batches.archives import list_batch_files
from pressroom.apps.packs.batches.lines import check_header
from pressroom.apps.packs.batches.store import LINE_STATUSES, Batch
from pressroom.apps.packs.batches.views import PackBatchView, batch_view, line_view
from pressroom.apps.packs.library.views import render_page
from pressroom.apps.packs.zip_archive import archive_size, write_archive
from pressroom.artifacts.disposition import content_disposition
from pressroom.errors import NotFound, PressroomError
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

PAGE_SIZE = 50
FORMATS = {"csv": "CSV", "ndjson": "NDJSON"}


class BatchPages:
    def __init__(self, app: "PacksApp") -> None:
        self._app = app
        self._batches = app.batches

    async def list(self, request: PageRequest) -> Response:
        return await self._list_page(request)

    async def _list_page(self, request: PageRequest, problem: PressroomError | None = None) -> Response:
        cursor = request.cursor(r"[0-9a-f-]{36}") if problem is None else ""
        unit = partial(store.list_batches, request.caller.org_id or "", before=cursor, limit=PAGE_SIZE + 1)
        found = await request.read(unit)
        return render_page(
            request,
            "batches.html",
            status=200 if problem is None else problem.status,
            batches=[await self._view(request, one) for one in found[:PAGE_SIZE]],
            cursor=found[PAGE_SIZE - 1].id if len(found) > PAGE_SIZE else None,
            first=bool(cursor),
            problem=problem,
            formats=FORMATS,
            form=request.form if problem is not None else None,
            address=request.site.service.address_for(request.http),
        )

    async def show(self, request: PageRequest, batch_id: str) -> Response:
        status = request.http.query_params.get("status", "")
        if status not in ("", *LINE_STATUSES):
            raise page_error(f"status is one of {', '.join(LINE_STATUSES)}")
        after = int(request.cursor(r"[0-9]{1,9}") or 0)
        batch = await self._batches.get(request.caller.org_id, batch_id)
        unit = partial(store.read_progress, batch.id, status=status, after=after, limit=PAGE_SIZE + 1)
        counts, lines = await request.read(unit)
        return render_page(
            request,
            "batch.html",
            batch=await self._view(request, batch),
            job_uid=batch.job_uid,
            counts=counts,
            lines=[line_view(line) for line in lines[:PAGE_SIZE]],
            statuses=LINE_STATUSES,
            chosen=status,
            cursor=lines[PAGE_SIZE - 1].number if len(lines) > PAGE_SIZE else None,
            first=bool(after),
        )

    async def create(self, request: PageRequest) -> Response:
        """From pasted lines. A longer upload is sent over HTTP or by the command line."""
        format, text = request.form.get("format"), request.form.get("lines").strip()
        data = f"{text}\n".encode()
        try:
            if format not in FORMATS:
                raise page_error(f"a batch is one of {', '.join(FORMATS.values())}")
            check_header(format, data)  # type: ignore[arg-type]
            draft = await self._batches.store_upload(format, _one_chunk(data))  # type: ignore[arg-type]
        except PressroomError as problem:
            return await self._list_page(request, problem)
        batch, is_new = await self._batches.start(
            request.caller.org_id,
            format,  # type: ignore[arg-type]
            draft,
            author=request.caller.name,
            trace={"request_id": request.http.state.request_id},
        )
        await request.record_audit("batch.create", f"batch {batch.id}", after={"format": format, "bytes": len(data)})
        message = "The batch is queued." if is_new else "A batch of the same lines is under way; this is it."
        return request.redirect(f"/library/batches/{batch.id}", message)

    async def retry(self, request: PageRequest, batch_id: str) -> Response:
        batch = await self._batches.retry(request.caller.org_id, batch_id, {"request_id": request.http.state.request_id})
        await request.record_audit("batch.retry", f"batch {batch.id}")
        return request.redirect(f"/library/batches/{batch.id}", "The failed lines are requested again.")

    async def download(self, request: PageRequest, batch_id: str) -> Response:
        """Every ready file as one zip archive."""
        batch = await self._batches.get(request.caller.org_id, batch_id)
        files = await list_batch_files(self._app.packs.database, batch.id, len(str(batch.lines or 0)))
        headers = {
            "Content-Length": str(archive_size(files)),
            "Content-Disposition": content_disposition(f"batch-{batch.id}.zip"),
            "Cache-Control": "no-store",
        }
        chunks = write_archive(files, request.site.service.rendering.blobs.get)
        return StreamingResponse(chunks, 200, headers, "application/zip")

    async def _view(self, request: PageRequest, batch: Batch) -> PackBatchView:
        counts = await request.read(partial(store.count_lines, batch.id))
        try:
            job = await self._app.queue.get(batch.job_uid)
        except NotFound:  # it was pruned
            job = None
        return batch_view(batch, job, counts, request.site.service.base_url)


async def _one_chunk(data: bytes) -> AsyncIterator[bytes]:
    yield data
