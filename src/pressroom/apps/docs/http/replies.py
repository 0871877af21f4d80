"""Resources and collections as responses. A collection is an array; where its next page is stands in `Link`."""

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.paging import next_page_link
from pressroom.api.replies import reply
from pressroom.api.service import Service
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.model import Submitted

KIND_PREFIX = "docs."  # of this app's kinds; design 004 has no prefixes
FRESH = {"Cache-Control": "private, no-cache"}
COLLECTION_HEADERS = {"Link": "The next page", "X-Total-Count": "How many there are on all pages"}


class AcceptedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that was submitted, or the queued one that does the same."""

    id: str
    kind: str
    queue_url: str


def accepted_job(job: Submitted, urls: ApiUrls) -> AcceptedJob:
    return AcceptedJob(id=job.uid, kind=job.kind.removeprefix(KIND_PREFIX), queue_url=urls.job(job.uid))


def resource(request: Request, value: Any) -> Response:
    """304 for a caller who has it."""
    return reply(value, request=request, headers=FRESH)


def created(value: Any, location: str) -> Response:
    return reply(value, status=201, headers={"Location": location})


def accepted(value: Any, location: str) -> Response:
    """`location` is the job's."""
    return reply(value, status=202, headers={"Location": location, "Retry-After": "1"})


def collection(
    service: Service, request: Request, items: Sequence[Any], *, cursor: str | None = None, total: int | None = None
) -> Response:
    """`cursor` is that of the next page. Without `total` it was not counted."""
    counted = {} if total is None else {"X-Total-Count": str(total)}
    return reply(list(items), headers=FRESH | counted | next_page_link(service, request, cursor))
