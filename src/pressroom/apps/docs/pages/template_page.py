"""The dashboard template of an organisation or of a project: where it is, how the last sync went, and what it renders."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.responses import Response

from pressroom.apps.docs.dashboards.dashboards import DASHBOARD
from pressroom.apps.docs.errors import TemplateNotFound
from pressroom.apps.docs.model import Org, Project
from pressroom.apps.docs.pages.form_fields import text_of
from pressroom.apps.docs.pages.paths import org_path, project_path
from pressroom.apps.docs.pages.sites_page import refused_form
from pressroom.apps.docs.pages.views import FilledForm, get_own_org, get_own_project, render_page
from pressroom.apps.docs.requests import TemplateDraft
from pressroom.apps.docs.store.templates import TemplateBinding
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import NotFound, PressroomError, Refused
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

# A dashboard is made from a template of the organisation: its frame runs no scripts and loads nothing.
FRAME_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'"
PREVIEWED = 5  # projects of an organisation whose dashboards can be looked at


class TemplatePages:
    """`project` "" is the organisation itself."""

    def __init__(self, app: "DocsApp") -> None:
        self._app = app
        self._urls = PublishedUrls(app.settings)

    async def show_org(self, request: PageRequest, org: str) -> Response:
        return await self._template_page(request, await get_own_org(request, self._app, org), None)

    async def show_project(self, request: PageRequest, org: str, project: str) -> Response:
        return await self._template_page(request, *await get_own_project(request, self._app, org, project))

    async def _template_page(
        self,
        request: PageRequest,
        org: Org,
        project: Project | None,
        form: FilledForm | None = None,
        problem: PressroomError | None = None,
    ) -> Response:
        binding = await self._find_binding(org, project)
        return render_page(
            request,
            "template.html",
            problem=problem,
            org=org,
            project=project,
            base=_base(org, project),
            binding=binding,
            inherited=None if project is None or binding is not None else await self._find_binding(org, None),
            form=form or FilledForm(_form_values_of(binding)),
            previews=await self._previewed(org, project),
        )

    async def _find_binding(self, org: Org, project: Project | None) -> TemplateBinding | None:
        try:
            return await self._app.templates.get(org.slug, None if project is None else project.slug)
        except TemplateNotFound:
            return None

    async def _previewed(self, org: Org, project: Project | None) -> Sequence[Project]:
        """Projects that have a dashboard."""
        if project is not None:
            return [project] if project.dashboard else []
        projects, _ = await self._app.projects.list(org.slug, limit=PREVIEWED)
        return [one for one in projects if one.dashboard]

    async def bind_org(self, request: PageRequest, org: str) -> Response:
        return await self._bind(request, await get_own_org(request, self._app, org), None)

    async def bind_project(self, request: PageRequest, org: str, project: str) -> Response:
        return await self._bind(request, *await get_own_project(request, self._app, org, project))

    async def _bind(self, request: PageRequest, org: Org, project: Project | None) -> Response:
        form = request.form
        try:
            draft = TemplateDraft(
                git_url=text_of(form, "git_url"), ref=text_of(form, "ref", 256), root_path=text_of(form, "root_path") or "/"
            )
            slug = None if project is None else project.slug
            _, job = await self._app.templates.put(org.slug, slug, draft, actor=request.caller.name)
        except Refused as refusal:
            return await self._template_page(request, org, project, refused_form(request, "template", refusal), refusal)
        after = {"git_url": draft.git_url, "ref": draft.ref, "root_path": draft.root_path, "job": str(job)}
        await request.record_audit("docs.template.bind", _target(org, project), after=after)
        return request.redirect(_base(org, project), "The template is saved, and is being fetched.")

    async def sync_org(self, request: PageRequest, org: str) -> Response:
        return await self._sync(request, await get_own_org(request, self._app, org), None)

    async def sync_project(self, request: PageRequest, org: str, project: str) -> Response:
        return await self._sync(request, *await get_own_project(request, self._app, org, project))

    async def _sync(self, request: PageRequest, org: Org, project: Project | None) -> Response:
        slug = None if project is None else project.slug
        try:
            job = await self._app.templates.sync(org.slug, slug, actor=request.caller.name)
        except Refused as refusal:
            return await self._template_page(request, org, project, refused_form(request, "template", refusal), refusal)
        await request.record_audit("docs.template.sync", _target(org, project), after={"job": str(job)})
        return request.redirect(_base(org, project), "The template is being fetched.")

    async def unbind_org(self, request: PageRequest, org: str) -> Response:
        return await self._unbind(request, await get_own_org(request, self._app, org), None)

    async def unbind_project(self, request: PageRequest, org: str, project: str) -> Response:
        return await self._unbind(request, *await get_own_project(request, self._app, org, project))

    async def _unbind(self, request: PageRequest, org: Org, project: Project | None) -> Response:
        slug = None if project is None else project.slug
        await self._app.templates.delete(org.slug, slug, actor=request.caller.name)
        await request.record_audit("docs.template.unbind", _target(org, project))
        return request.redirect(_base(org, project), "The template is removed. Dashboards are rendered without it.")

    async def send_preview(self, request: PageRequest, org: str, project: str) -> Response:
        """The dashboard of a project as it is now, for a frame."""
        _, shown = await get_own_project(request, self._app, org, project)
        page = (await self._app.dashboards.read(shown.id)).get(DASHBOARD)
        if page is None:
            raise NotFound("the project has no dashboard yet")
        headers = {
            "Content-Security-Policy": FRAME_POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        return Response(page, 200, headers, "text/html; charset=utf-8")


def _base(org: Org, project: Project | None) -> str:
    return f"{org_path(org.slug)}/settings/template" if project is None else f"{project_path(project)}/template"


def _target(org: Org, project: Project | None) -> str:
    return f"organisation {org.slug}" if project is None else f"project {org.slug}/{project.slug}"


def _form_values_of(binding: TemplateBinding | None) -> dict[str, str]:
    if binding is None:
        return {"ref": "main", "root_path": "/"}
    return {"git_url": binding.git_url, "ref": binding.git_ref, "root_path": binding.root_path}
