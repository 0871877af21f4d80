"""The list of jobs: filtered by its address, newest first, each with what it made."""

from datetime import UTC, datetime, timedelta
from functools import partial

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.model import Job, Status
from pressroom.store.operators import search
from pressroom.web import chosen
from pressroom.web.desk import Desk, Visit

ERROR_SHOWN = 140  # letters


def router(desk: Desk) -> Routes:
    routes = Routes()

    async def show(visit: Visit) -> Response:
        asked = visit.request.query_params
        filter = chosen.read(asked.multi_items(), org_id=visit.org_id, now=datetime.now(UTC))
        cursor = _number(asked.get("cursor"), "cursor")
        seen = _number(asked.get("seen"), "seen")
        listing = await desk.service.rendering.database.read(partial(search.list_page, filter.wanted, cursor=cursor, seen=seen))
        return visit.page(
            "jobs.html",
            filter=filter,
            listing=listing,
            cursor=cursor,
            again=desk.url("/desk/jobs", cursor=cursor, seen=listing.newest, **filter.asked),
            kinds=sorted(desk.service.queue.kinds),
            statuses=list(Status),
            most_new=search.NEW,
            lasted=lasted,
            brief=brief,
            picture=picture,
        )

    desk.get(routes, "/desk/jobs", show)
    return routes


def lasted(job: Job) -> timedelta | None:
    """How long the last attempt took, or has taken by now."""
    return None if job.date_started is None else (job.date_completed or datetime.now(UTC)) - job.date_started


def brief(error: str | None) -> str:
    """The first line, shortened."""
    line = next(iter((error or "").strip().splitlines()), "")
    return line if len(line) <= ERROR_SHOWN else f"{line[: ERROR_SHOWN - 1].rstrip()}…"


def picture(media_type: str) -> str:
    """What stands for an output that is no picture: PDF, HTML. Empty for one that is."""
    kind, _, name = media_type.partition(";")[0].partition("/")
    if kind == "image":
        return ""
    return {"plain": "TXT", "markdown": "MD", "octet-stream": "FILE"}.get(name, name.rpartition("+")[2].upper()[:5] or "FILE")


def _number(text: str | None, name: str) -> int | None:
    return None if text is None or text == "" else chosen.number(text, name)
