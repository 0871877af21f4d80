"""The list of jobs: filtered by its address, newest first, each with what it made."""

from datetime import UTC, datetime, timedelta
from functools import partial

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.model import Job, Status
from pressroom.store.operators import search
from pressroom.web import selection
from pressroom.web.site import PageRequest, Site

MAX_ERROR_LENGTH = 140  # letters


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/jobs", show)
    return routes


async def show(request: PageRequest) -> Response:
    query = request.http.query_params
    jobs = selection.parse_selection(query.multi_items(), org_id=request.org_id, now=datetime.now(UTC))
    cursor = _parse_optional_number(query.get("cursor"), "cursor")
    seen = _parse_optional_number(query.get("seen"), "seen")
    listing = await request.read(partial(search.list_page, jobs.filter, cursor=cursor, seen=seen))
    return request.page(
        "jobs.html",
        filter=jobs,
        listing=listing,
        cursor=cursor,
        again=request.site.url("/desk/jobs", cursor=cursor, seen=listing.newest, **jobs.fields),
        kinds=sorted(request.site.service.queue.kinds),
        statuses=list(Status),
        most_new=search.NEW,
        lasted=attempt_duration,
        brief=short_error,
        picture=type_label,
    )


def attempt_duration(job: Job) -> timedelta | None:
    """How long the last attempt took, or has taken by now."""
    return None if job.date_started is None else (job.date_completed or datetime.now(UTC)) - job.date_started


def short_error(error: str | None) -> str:
    """The first line, shortened."""
    line = next(iter((error or "").strip().splitlines()), "")
    return line if len(line) <= MAX_ERROR_LENGTH else f"{line[: MAX_ERROR_LENGTH - 1].rstrip()}…"


def type_label(media_type: str) -> str:
    """What stands for an output that is no picture: PDF, HTML. Empty for one that is."""
    kind, _, name = media_type.partition(";")[0].partition("/")
    if kind == "image":
        return ""
    return {"plain": "TXT", "markdown": "MD", "octet-stream": "FILE"}.get(name, name.rpartition("+")[2].upper()[:5] or "FILE")


def _parse_optional_number(text: str | None, name: str) -> int | None:
    return None if text is None or text == "" else selection.parse_number(text, name)
