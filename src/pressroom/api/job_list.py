"""The list of jobs over HTTP: which jobs are asked for, and one page of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Caller
from pressroom.api.paging import LIMIT, NUMBER, cursor_parameter, is_seconds, next_page_link, parse_cursor, parse_limit
from pressroom.api.problems import HttpError
from pressroom.api.replies import reply
from pressroom.api.schema import json_response, query, responses
from pressroom.api.service import Service
from pressroom.api.views import JobView, view
from pressroom.errors import NotFound
from pressroom.model import Status, Tier


class JobList(msgspec.Struct, frozen=True):
    items: list[JobView]
    next_cursor: str | None


_FILTERS = [
    query("status", {"type": "array", "items": {"enum": [status.value for status in Status]}}, "Only these; may be repeated"),
    query("kind", {"type": "string"}, "Only this kind"),
    query("tier", {"enum": ["interactive", "background"]}, "Only this tier"),
    query("org", {"type": "string"}, "Only this organisation; for callers who see more than one"),
    query("subject", {"type": "string"}, "Only this subject"),
    query("key", {"type": "string"}, "Only this key"),
    query("parent", {"type": "string"}, "Only the children of this job"),
    query("max_age", {"type": "number", "minimum": 0}, "Only jobs submitted within so many seconds"),
    LIMIT,
    cursor_parameter(NUMBER),
]
LIST_JOBS: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                JobList,
                "Jobs, newest first",
                headers={"Link": "The next page"},
                example={"items": [examples.JOB], "next_cursor": None},
            )
        },
        *(401, 422),
    ),
    "openapi": {"parameters": _FILTERS},
}


async def list_jobs(service: Service, request: Request, caller: Caller) -> Response:
    asked = request.query_params
    limit = parse_limit(request)
    age = asked.get("max_age")
    org = asked.get("org")
    statuses, tier, cursor = (
        _parse_statuses(asked.getlist("status")),
        parse_tier(asked.get("tier")),
        parse_cursor(request, NUMBER),
    )
    created_after = None if age is None else datetime.now(UTC) - timedelta(seconds=_parse_seconds(age, "max_age"))
    if org is not None and not caller.owns(org):
        return reply(JobList([], None))
    try:
        page = await service.queue.list(
            status=statuses,
            kind=asked.get("kind"),
            tier=tier,
            org_id=org if caller.everywhere else caller.org_id or "",
            subject=asked.get("subject"),
            key=asked.get("key"),
            parent=asked.get("parent"),
            created_after=created_after,
            limit=limit,
            cursor=cursor,
        )
    except NotFound:  # a malformed id names no job
        return reply(JobList([], None))
    headers = {"Cache-Control": "no-cache", **next_page_link(service, request, page.cursor)}
    items = [view(job, prefix=service.base_url) for job in page.jobs]
    return reply(JobList(items, page.cursor), headers=headers)


def _parse_statuses(given: list[str]) -> list[Status] | None:
    if not given:
        return None
    try:
        return [Status(one) for one in given]
    except ValueError:
        raise HttpError(422, "invalid_argument", f"a status is one of: {', '.join(Status)}") from None


def parse_tier(given: str | None) -> Tier | None:
    if given is None:
        return None
    try:
        return Tier[given.upper()]
    except KeyError:
        raise HttpError(422, "invalid_argument", "tier is interactive or background") from None


def _parse_seconds(text: str, name: str) -> float:
    """As JSON spells it. More than a century is a century: a datetime has its limits."""
    if not is_seconds(text):
        raise HttpError(422, "invalid_argument", f"{name} is a number of seconds")
    return min(float(text), 100 * 365.0 * 86_400)
