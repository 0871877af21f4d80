"""`/orgs/{org}/lifecycle`: what lifecycle rules would delete."""

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.api.schema import json_body, query
from pressroom.api.service import Service
from pressroom.apps.docs.http.access import ADMIN, require_role
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.openapi import PROJECT_URL, collection_of, operation
from pressroom.apps.docs.http.replies import collection
from pressroom.apps.docs.http.request_parts import FLAG, ORG, MisplacedValue, decode_body, parse_flag
from pressroom.apps.docs.store.lifecycle import ProjectDeletion

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


class LifecycleQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`project` is a slug; without it, all projects are asked about. `rules` take the place of those that hold."""

    project: str | None = None
    rules: list[dict[str, Any]] | None = None


class DeletionView(msgspec.Struct, frozen=True, kw_only=True):
    """An edition or a build that a rule would delete, and why."""

    url: str
    project: str
    what: str
    id: str
    name: str
    rule: str
    parameters: dict[str, Any]
    reason: str


_RULE = {"type": "draft_inactivity", "max_days_inactive": 30}
_DELETION = {
    "url": f"{PROJECT_URL}/editions/DM-1234",
    "project": "guide",
    "what": "edition",
    "id": "01KAD3X0B5D8G1K4N7Q2T5W8ZA",
    "name": "DM-1234",
    "rule": "draft_inactivity",
    "parameters": {"max_days_inactive": 30},
    "reason": "not updated for 41 days",
}
PREVIEW = operation(
    collection_of(DeletionView, "What would be deleted now", _DELETION),
    422,
    **json_body(LifecycleQuestion, "Which project, and which rules", example={"rules": [_RULE]}),
    parameters=[ORG, query("dry_run", FLAG, "True: nothing is deleted") | {"required": True}],
)


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = LifecycleApi(service, app)
    routes.add("/orgs/{org}/lifecycle", api.preview_lifecycle, "POST", **PREVIEW)
    return routes


class LifecycleApi:
    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._evaluation = app.lifecycle_eval

    async def preview_lifecycle(self, request: Request, org: str) -> Response:
        """What the rules of an organisation would delete now, or what other rules would. They are applied every hour."""
        await require_role(self._service, request, org, ADMIN)
        if not parse_flag(request, "dry_run"):
            raise MisplacedValue(
                422, "invalid_argument", "rules are applied every hour; ask with dry_run=true", ["query", "dry_run"]
            )
        asked = await decode_body(request, LifecycleQuestion)
        found = await self._evaluation.dry_run(org, asked.project, rules=asked.rules)
        urls = ApiUrls.of(self._service, request)
        views = [_deletion_view(org, one, urls) for one in found]
        return collection(self._service, request, views, total=len(views))


def _deletion_view(org: str, found: ProjectDeletion, urls: ApiUrls) -> DeletionView:
    deletion = found.deletion
    is_edition = deletion.what == "edition"
    url = urls.edition(org, found.project, deletion.name) if is_edition else urls.build(org, found.project, deletion.id)
    return DeletionView(url=url, project=found.project, **msgspec.structs.asdict(deletion))
