"""Renders of documents over all packs, for operators: filtered, and requested again where they failed."""

from typing import TYPE_CHECKING, cast

from starlette.responses import Response

from pressroom.apps.packs.admin.page_parts import actor_of
from pressroom.apps.packs.admin.render_jobs import RenderJobFilter, RenderJobs, RenderJobStatus
from pressroom.apps.packs.errors import PackNotFound
from pressroom.apps.packs.library.packs_page import STATES
from pressroom.apps.packs.library.views import read_text_field, render_page
from pressroom.apps.packs.model import parse_id
from pressroom.errors import Refused
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

PAGE_SIZE = 50
REQUEUED_AT_ONCE = 500


class RenderJobPages:
    def __init__(self, app: "PacksApp") -> None:
        self._renders = RenderJobs(app.packs, app.sections)

    async def show(self, request: PageRequest) -> Response:
        fields = {name: read_text_field(request, name).strip() for name in ("status", "pack", "document")}
        if fields["status"] not in ("", *STATES):
            raise page_error(f"status is one of {', '.join(STATES)}")
        wanted = RenderJobFilter(
            status=cast("RenderJobStatus", fields["status"]),
            pack_id=_parse_pack(fields["pack"]),
            doc_id=fields["document"],
        )
        cursor = request.cursor(r"[0-9a-f-]{36}")
        found, more = await self._renders.list(request.caller.org_id, wanted, cursor=cursor, limit=PAGE_SIZE)
        return render_page(
            request,
            "renders.html",
            found=found,
            figures=await self._renders.figures(request.caller.org_id),
            cursor=more,
            first=bool(cursor),
            fields=fields,
            asked={name: value for name, value in fields.items() if value},
            states=STATES,
        )

    async def requeue(self, request: PageRequest, job_id: str) -> Response:
        try:
            answer = await self._renders.requeue(request.caller.org_id, job_id, actor_of(request), _trace(request))
        except Refused as refusal:
            return request.redirect("/library/renders?status=failed", f"Nothing was queued: {refusal}.")
        documents = ", ".join(job.doc_id for job in answer.jobs)
        return request.redirect("/library/renders?status=failed", f"{documents} is queued again.")

    async def requeue_failed(self, request: PageRequest) -> Response:
        """Those whose newest render failed, of all packs."""
        counts = await self._renders.requeue_failed(
            request.caller.org_id, actor_of(request), _trace(request), limit=REQUEUED_AT_ONCE
        )
        told = [f"{counts.enqueued} queued again"]
        if counts.skipped_in_progress:
            told.append(f"{counts.skipped_in_progress} in progress already")
        if counts.errors:
            told.append(f"{counts.errors} cannot be made: {counts.failures[0].message}")
        if counts.next_cursor:
            told.append("there are more; request them again")
        return request.redirect("/library/renders?status=failed", f"{'; '.join(told)}.")


def _parse_pack(text: str) -> str:
    try:
        return parse_id(text) if text else ""
    except PackNotFound:
        raise page_error(f"{text[:40]!r} is not the id of a pack") from None


def _trace(request: PageRequest) -> dict[str, str]:
    return {"request_id": request.http.state.request_id}
