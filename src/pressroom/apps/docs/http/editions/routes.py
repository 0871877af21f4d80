"""`…/editions`: create, change, move and roll back editions."""

from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import idempotency
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.docs.http.access import ADMIN, READER, require_role
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.counts import count_history
from pressroom.apps.docs.http.editions import openapi
from pressroom.apps.docs.http.editions.views import EditionPlace, edition_view, history_view, moved_edition_view
from pressroom.apps.docs.http.replies import accepted, accepted_job, collection, created, resource
from pressroom.apps.docs.http.request_parts import decode_body, parse_choice, parse_flag, parse_limit, parse_number_cursor
from pressroom.apps.docs.requests import EditionChanges, EditionDraft, Rollback
from pressroom.apps.docs.store.editions import BEYOND
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.store import Transaction

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = EditionsApi(service, app)
    editions = "/orgs/{org}/projects/{project}/editions"
    edition = f"{editions}/{{edition}}"
    routes.add(editions, api.list_editions, "GET", **openapi.LIST_EDITIONS)
    routes.add(editions, api.create_edition, "POST", small_body=True, **openapi.CREATE_EDITION)
    routes.add(edition, api.get_edition, "GET", **openapi.GET_EDITION)
    routes.add(edition, api.change_edition, "PATCH", small_body=True, **openapi.CHANGE_EDITION)
    routes.add(edition, api.delete_edition, "DELETE", small_body=True, **openapi.DELETE_EDITION)
    routes.add(f"{edition}/history", api.list_history, "GET", **openapi.LIST_HISTORY)
    routes.add(f"{edition}/rollback", api.roll_back_edition, "POST", small_body=True, **openapi.ROLL_BACK)
    return routes


class EditionsApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._editions, self._projects = app.editions, app.projects
        self._database = app.core.database
        self._published = PublishedUrls(app.settings)

    async def list_editions(self, request: Request, org: str, project: str) -> Response:
        """All editions of a project."""
        await require_role(self._service, request, org, READER)
        kind = parse_choice(request, "kind", openapi.KINDS)
        place = await self._place(request, org, project)
        found = [edition for edition in await self._editions.list(org, project) if kind in ("", edition.kind)]
        views = [edition_view(edition, place) for edition in found]
        return collection(self._service, request, views, total=len(views))

    async def create_edition(self, request: Request, org: str, project: str) -> Response:
        """A new edition. It shows the next build that it tracks, or one that it is given."""
        caller = await require_role(self._service, request, org, ADMIN)
        draft = await decode_body(request, EditionDraft)

        async def act(_: Transaction | None) -> Response:
            edition = await self._editions.create(org, project, draft)
            view = edition_view(edition, await self._place(request, org, project))
            return created(view, view.self_url)

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def get_edition(self, request: Request, org: str, project: str, edition: str) -> Response:
        """An edition."""
        await require_role(self._service, request, org, READER)
        found = await self._editions.get(org, project, edition)
        return resource(request, edition_view(found, await self._place(request, org, project)))

    async def change_edition(self, request: Request, org: str, project: str, edition: str) -> Response:
        """Change an edition. With `build` a job makes it show that build, whatever it tracks; 202 tells of the job."""
        caller = await require_role(self._service, request, org, ADMIN)
        changes = await decode_body(request, EditionChanges)
        changed, job = await self._editions.change(org, project, edition, changes, actor=caller.name)
        place = await self._place(request, org, project)
        if job is None:
            return reply(edition_view(changed, place))
        queue_url = place.urls.job(job.uid)
        return accepted(moved_edition_view(changed, place, queue_url), queue_url)

    async def delete_edition(self, request: Request, org: str, project: str, edition: str) -> Response:
        """Delete an edition. It can be restored until its retention is over; `__main` stays."""
        caller = await require_role(self._service, request, org, ADMIN)
        await self._editions.delete(org, project, edition, actor=caller.name)
        return Response(status_code=204)

    async def list_history(self, request: Request, org: str, project: str, edition: str) -> Response:
        """What an edition came to show, newest first."""
        await require_role(self._service, request, org, READER)
        limit, before = parse_limit(request), parse_number_cursor(request)
        before, deleted = BEYOND if before is None else min(before, BEYOND), parse_flag(request, "include_deleted")
        found = await self._editions.get(org, project, edition)
        lines = await self._editions.list_history(
            org, project, edition, include_deleted=deleted, before=before, limit=limit + 1
        )
        counting = partial(count_history, found.id, include_deleted=deleted, before=before)
        total, newer = await self._database.read(counting)
        place = await self._place(request, org, project)
        views = [history_view(line, newer + number, place) for number, line in enumerate(lines[:limit], start=1)]
        cursor = str(views[-1].seq) if len(lines) > limit else None
        return collection(self._service, request, views, cursor=cursor, total=total)

    async def roll_back_edition(self, request: Request, org: str, project: str, edition: str) -> Response:
        """Make an edition show a build that it has shown before. It stays there, unless `pinned` is false."""
        caller = await require_role(self._service, request, org, ADMIN)
        asked = await decode_body(request, Rollback)

        async def act(_: Transaction | None) -> Response:
            job = await self._editions.roll_back(org, project, edition, asked, actor=caller.name)
            view = accepted_job(job, ApiUrls.of(self._service, request))
            return accepted(view, view.queue_url)

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def _place(self, request: Request, org: str, project: str) -> EditionPlace:
        owner, found = await self._projects.get_with_org(org, project)
        return EditionPlace(owner, found, ApiUrls.of(self._service, request), self._published)
