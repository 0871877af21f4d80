"""`/orgs/{org}/purgatory`: what was deleted and can be restored."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import idempotency
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.docs.errors import ProjectNotFound
from pressroom.apps.docs.http.access import ADMIN, require_role
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.counts import count_purgatory
from pressroom.apps.docs.http.purgatory import openapi
from pressroom.apps.docs.http.purgatory.views import PurgatoryView, purgatory_view
from pressroom.apps.docs.http.replies import collection
from pressroom.apps.docs.http.request_parts import parse_limit, parse_uid_cursor
from pressroom.apps.docs.store.projects import get_project_by_id
from pressroom.apps.docs.store.purgatory import PurgatoryEntry
from pressroom.model import Work
from pressroom.store import Transaction

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = PurgatoryApi(service, app)
    routes.add("/orgs/{org}/purgatory", api.list_purgatory, "GET", **openapi.LIST_PURGATORY)
    restore = "/orgs/{org}/purgatory/{entry}/restore"
    routes.add(restore, api.restore_from_purgatory, "POST", small_body=True, **openapi.RESTORE)
    return routes


class PurgatoryApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._purgatory, self._projects = app.purgatory, app.projects
        self._database = app.core.database

    async def list_purgatory(self, request: Request, org: str) -> Response:
        """What was deleted in an organisation and can be restored, last deleted first."""
        await require_role(self._service, request, org, ADMIN)
        limit, before, slug = parse_limit(request), parse_uid_cursor(request), request.query_params.get("project") or None
        project = "" if slug is None else (await self._projects.get(org, slug)).id
        found = await self._purgatory.list(org, project=slug, before=before, limit=limit + 1)
        total = await self._database.read(partial(count_purgatory, org, project))
        cursor = found[limit - 1].id if len(found) > limit else None
        views = await self._views(request, found[:limit])
        return collection(self._service, request, views, cursor=cursor, total=total)

    async def restore_from_purgatory(self, request: Request, org: str, entry: str) -> Response:
        """Restore what was deleted: a project with all that it has, an edition with what it showed, or a build."""
        caller = await require_role(self._service, request, org, ADMIN)

        async def act(_: Transaction | None) -> Response:
            restored = await self._purgatory.restore(org, entry, actor=caller.name)
            (view,) = await self._views(request, [restored])
            return reply(view)

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def _views(self, request: Request, entries: Sequence[PurgatoryEntry]) -> list[PurgatoryView]:
        slugs = await self._database.read(partial(_slugs_of, sorted({entry.project for entry in entries})))
        urls = ApiUrls.of(self._service, request)
        return [purgatory_view(entry, slugs.get(entry.project, ""), urls) for entry in entries]


def _slugs_of(projects: Sequence[str]) -> Work[dict[str, str]]:
    """By their ids. One that was purged meanwhile is left out."""
    slugs: dict[str, str] = {}
    for id in projects:
        try:
            slugs[id] = (yield from get_project_by_id(id)).slug
        except ProjectNotFound:
            continue
    return slugs
