"""`POST /hooks/git`: what git hosts tell, in the shape that GitHub gave it.

Git hosts call it, and no client of the API: it is in docs/documentation-dashboards.md and not in the OpenAPI document.
"""

from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.replies import AcceptedJob, accepted_job

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

BODY_LIMIT = 25 * 1024 * 1024  # GitHub sends no larger payload


class HookReceipt(msgspec.Struct, frozen=True):
    """`status` is accepted, repeated, ignored (nothing here follows such an event) or pong."""

    status: str
    jobs: list[AcceptedJob]


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = HooksApi(service, app)
    for path in ("/hooks/git", "/webhooks/github"):
        routes.add(path, api.receive, "POST", body_limit=BODY_LIMIT)
    return routes


class HooksApi:
    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._hooks = app.hooks

    async def receive(self, request: Request) -> Response:
        """A webhook of a git host. It is signed, so that it needs no token."""
        received = await self._hooks.receive(request.headers, await request.body())
        urls = ApiUrls.of(self._service, request)
        receipt = HookReceipt(received.status, [accepted_job(job, urls) for job in received.jobs])
        return reply(receipt, status=200 if received.status in ("repeated", "pong") else 202)
