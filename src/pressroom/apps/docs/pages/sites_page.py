"""The organisations that a viewer may see with their projects, and the projects of one of them."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.apps.docs.errors import OrgNotFound
from pressroom.apps.docs.model import Org
from pressroom.apps.docs.pages.form_fields import field_of, form_values, text_of
from pressroom.apps.docs.pages.paths import org_path, project_path
from pressroom.apps.docs.pages.views import EMPTY_FORM, PAGE_SIZE, FilledForm, FormProblem, get_own_org, read_query, render_page
from pressroom.apps.docs.requests import OrgDraft, ProjectDraft
from pressroom.apps.docs.store.summaries import ProjectSummary, summarise_projects
from pressroom.errors import PressroomError, Refused
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

SHOWN_ORGS = 20
SHOWN_PROJECTS = 10  # of each organisation on the page of all
ORDERS = ("slug", "date_created")


class OrgProjects(msgspec.Struct, frozen=True):
    org: Org
    projects: Sequence[ProjectSummary]
    count: int


class SitesPages:
    def __init__(self, app: "DocsApp") -> None:
        self._app = app

    async def show(self, request: PageRequest) -> Response:
        return await self._all_page(request)

    async def _all_page(
        self, request: PageRequest, form: FilledForm = EMPTY_FORM, problem: PressroomError | None = None
    ) -> Response:
        text, cursor = read_query(request, "q"), read_query(request, "cursor", 64)
        orgs = await self._visible_orgs(request, cursor)
        shown, more = orgs[:SHOWN_ORGS], len(orgs) > SHOWN_ORGS
        listed = [await self._projects_of(request, org, text) for org in shown]
        if text:
            listed = [one for one in listed if one.count]
        return render_page(
            request,
            "sites.html",
            problem=problem,
            listed=listed,
            asked=text,
            cursor=shown[-1].slug if more else None,
            first=bool(cursor),
            may_create=may_create_orgs(request),
            form=form,
            address=request.site.service.address_for(request.http),
        )

    async def _visible_orgs(self, request: PageRequest, after: str) -> Sequence[Org]:
        """One more than are shown, if there are more."""
        if request.caller.everywhere:
            return await self._app.orgs.list(after=after, limit=SHOWN_ORGS + 1)
        try:
            return [await self._app.orgs.get(request.caller.org_id)] if request.caller.org_id else []
        except OrgNotFound:
            return []

    async def _projects_of(self, request: PageRequest, org: Org, text: str) -> OrgProjects:
        projects, count = await self._app.projects.list(org.slug, text=text, limit=SHOWN_PROJECTS)
        return OrgProjects(org, await request.read(partial(summarise_projects, projects)), count)

    async def create_org(self, request: PageRequest) -> Response:
        """For an admin of all organisations."""
        if not may_create_orgs(request):
            raise page_error("only an admin of all organisations creates organisations", status=403, code="forbidden")
        form = request.form
        try:
            draft = OrgDraft(slug=text_of(form, "slug"), title=text_of(form, "title"), base_domain=text_of(form, "base_domain"))
            org = await self._app.orgs.create(draft)
        except Refused as refusal:
            return await self._all_page(request, refused_form(request, "org", refusal), refusal)
        await request.record_audit("docs.org.create", f"organisation {org.slug}", after={"title": org.title})
        return request.redirect(org_path(org.slug), f"The organisation {org.slug} is created.")

    async def show_org(self, request: PageRequest, org: str) -> Response:
        return await self._org_page(request, await get_own_org(request, self._app, org))

    async def _org_page(
        self, request: PageRequest, org: Org, form: FilledForm = EMPTY_FORM, problem: PressroomError | None = None
    ) -> Response:
        text, cursor, order = read_query(request, "q"), read_query(request, "cursor", 128), read_query(request, "order")
        if order not in ("", *ORDERS):
            raise page_error(f"order is one of {', '.join(ORDERS)}")
        order = order or ORDERS[0]
        projects, count = await self._app.projects.list(org.slug, text=text, order=order, after=cursor, limit=PAGE_SIZE + 1)
        shown, more = projects[:PAGE_SIZE], len(projects) > PAGE_SIZE
        last = (shown[-1].slug if order == "slug" else shown[-1].id) if more else None
        return render_page(
            request,
            "org.html",
            problem=problem,
            org=org,
            projects=await request.read(partial(summarise_projects, shown)),
            count=count,
            cursor=last,
            first=bool(cursor),
            asked={"q": text, "order": "" if order == "slug" else order},
            form=form,
        )

    async def create_project(self, request: PageRequest, org: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        form = request.form
        try:
            draft = ProjectDraft(
                slug=text_of(form, "slug"),
                title=text_of(form, "title"),
                source_url=text_of(form, "source_url"),
                git_url=text_of(form, "git_url"),
            )
            project = await self._app.projects.create(org, draft)
        except Refused as refusal:
            return await self._org_page(request, owner, refused_form(request, "project", refusal), refusal)
        await request.record_audit("docs.project.create", f"project {org}/{project.slug}", after={"title": project.title})
        return request.redirect(project_path(project), f"The project {project.slug} is created. It waits for its first build.")


def refused_form(request: PageRequest, form: str, refusal: PressroomError) -> FilledForm:
    """The form of a request with what is wrong with it."""
    problem = FormProblem(form, str(refusal), refusal.code, field_of(refusal, request.form))
    return FilledForm(form_values(request.form), problem)


def may_create_orgs(request: PageRequest) -> bool:
    return request.may(Scope.ADMIN) and request.caller.everywhere
