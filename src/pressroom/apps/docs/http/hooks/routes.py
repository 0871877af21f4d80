"""`POST /hooks/git`: what git hosts tell, in the shape that GitHub gave it."""

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import header, json_response
from pressroom.api.service import Service
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.openapi import ACCEPTED_JOB, operation
from pressroom.apps.docs.http.replies import AcceptedJob, accepted_job

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

BODY_LIMIT = 25 * 1024 * 1024  # GitHub sends no larger payload


class HookReceipt(msgspec.Struct, frozen=True):
    """`status` is accepted, repeated, ignored (nothing here follows such an event) or pong."""

    status: str
    jobs: list[AcceptedJob]


_PUSH = {"ref": "refs/heads/main", "repository": {"clone_url": "https://git.example.org/acme/dashboards.git"}}
_ANSWERS: dict[int | str, Any] = {
    202: json_response(HookReceipt, "What was begun", example={"status": "accepted", "jobs": [ACCEPTED_JOB]}),
    200: json_response(HookReceipt, "It was received before, or is a ping", example={"status": "repeated", "jobs": []}),
}
RECEIVE = operation(
    _ANSWERS,
    *(409, 413, 422),
    parameters=[
        header("X-Hub-Signature-256", "`sha256=` and the HMAC-SHA256 of the body with the shared secret"),
        header("X-GitHub-Event", "What happened: push, delete, repository, ping"),
        header("X-GitHub-Delivery", "The id of this delivery"),
    ],
    requestBody={"required": True, "content": {"application/json": {"schema": {"type": "object"}, "example": _PUSH}}},
)


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = HooksApi(service, app)
    routes.add("/hooks/git", api.receive_git_webhook, "POST", body_limit=BODY_LIMIT, **RECEIVE)
    routes.add("/webhooks/github", api.receive_github_webhook, "POST", body_limit=BODY_LIMIT, **RECEIVE)
    return routes


class HooksApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._hooks = app.hooks

    async def receive_git_webhook(self, request: Request) -> Response:
        """A webhook of a git host. It is signed, so that it needs no token."""
        received = await self._hooks.receive(request.headers, await request.body())
        urls = ApiUrls.of(self._service, request)
        receipt = HookReceipt(received.status, [accepted_job(job, urls) for job in received.jobs])
        return reply(receipt, status=200 if received.status in ("repeated", "pong") else 202)

    async def receive_github_webhook(self, request: Request) -> Response:
        """The same under the address that GitHub Apps of documentation services are usually given."""
        return await self.receive_git_webhook(request)
