"""The page of a project: its editions and what they show, its builds, running jobs, rules, storage, and actions."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from pressroom.apps.docs.domain.slugs import SlugPreview
from pressroom.apps.docs.model import MAIN, AutoCreate, BuildStatus, Edition, EditionKind, Org, Project, TrackingMode
from pressroom.apps.docs.operations.projects import Storage
from pressroom.apps.docs.pages.form_fields import (
    as_json,
    auto_create_of,
    choice_of,
    days_of,
    form_values,
    inherited_rules_of,
    kinds_of,
    text_of,
    tracking_params_of,
)
from pressroom.apps.docs.pages.paths import edition_path, org_path, project_path
from pressroom.apps.docs.pages.sites_page import refused_form
from pressroom.apps.docs.pages.views import EMPTY_FORM, KIND_TITLES, FilledForm, get_own_project, read_query, render_page
from pressroom.apps.docs.requests import EditionDraft, ProjectChanges
from pressroom.apps.docs.search.search import PageHit
from pressroom.apps.docs.store.editions import ShownBuild, list_shown_builds
from pressroom.apps.docs.store.lifecycle import ProjectPlan, plan_org
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import InvalidArgument, PressroomError, Refused
from pressroom.model import Job, Status
from pressroom.web.job.history import Progress, progress_of
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

PAGE_SIZE = 20  # builds
SHOWN_EDITIONS = 10  # of a kind, until all of them are asked for
SHOWN_JOBS = 20
SHOWN_HITS = 20
SHOWN_DELETIONS = 100
DAY = 24 * 3600


class ListedEdition(msgspec.Struct, frozen=True):
    edition: Edition
    shows: ShownBuild | None
    url: str


class EditionGroup(msgspec.Struct, frozen=True):
    """The editions of a kind. `count` is how many there are, and more than are listed if they are many."""

    kind: EditionKind
    title: str
    editions: Sequence[ListedEdition]
    count: int


class PageSearch(msgspec.Struct, frozen=True):
    """Pages of an edition with what was searched for. `url` is where the edition is read."""

    text: str
    edition: str
    url: str
    hits: Sequence[PageHit]


class OpenJob(msgspec.Struct, frozen=True):
    job: Job
    progress: Progress | None


class ProjectPages:
    def __init__(self, app: "DocsApp") -> None:
        self._app = app
        self._urls = PublishedUrls(app.settings)

    async def show(self, request: PageRequest, org: str, project: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        return await self._project_page(request, owner, shown)

    async def _project_page(
        self,
        request: PageRequest,
        org: Org,
        project: Project,
        form: FilledForm = EMPTY_FORM,
        problem: PressroomError | None = None,
    ) -> Response:
        status = read_query(request, "status")
        if status not in ("", *BuildStatus):
            raise page_error(f"status is one of {', '.join(BuildStatus)}")
        cursor = request.cursor(r"[0-9A-Z]{26}")
        builds, count = await self._app.builds.list(org.slug, project.slug, status=status, before=cursor, limit=PAGE_SIZE + 1)
        shown, more = builds[:PAGE_SIZE], len(builds) > PAGE_SIZE
        preview, preview_problem = await self._preview(request, project)
        groups = await self._edition_groups(request, org, project)
        return render_page(
            request,
            "project.html",
            problem=problem,
            org=org,
            project=project,
            groups=groups,
            search=await self._search(request, org, project),
            builds=shown,
            build_count=count,
            cursor=shown[-1].uid if more else None,
            first=bool(cursor),
            chosen=status,
            statuses=list(BuildStatus),
            jobs=await self._open_jobs(request, org, project),
            storage=await self._measure(request, project),
            preview=preview,
            preview_problem=preview_problem,
            asked={name: read_query(request, name, 256) for name in ("ref", "alternate")},
            rewrite_rules=project.slug_rewrite_rules or org.slug_rewrite_rules,
            site_url=self._urls.project(org, project.slug),
            dashboard_url=self._urls.dashboard(org, project.slug),
            modes=list(TrackingMode),
            form=form,
        )

    async def _measure(self, request: PageRequest, project: Project) -> Storage | None:
        """None for a refresh, which takes its own part of the page: all files of a project are many."""
        if "hx-request" in request.http.headers:
            return None
        return await self._app.projects.measure(project.org, project.slug)

    async def _edition_groups(self, request: PageRequest, org: Org, project: Project) -> list[EditionGroup]:
        expanded = read_query(request, "kind")
        editions = await self._app.editions.list(org.slug, project.slug)
        shown = await request.read(partial(list_shown_builds, project.id))
        groups = []
        for kind, title in KIND_TITLES.items():
            of_kind = [edition for edition in editions if edition.kind is kind]
            if of_kind:
                some = of_kind if expanded == kind else of_kind[:SHOWN_EDITIONS]
                listed = [
                    ListedEdition(one, shown.get(one.id), self._urls.edition(org, project.slug, one.slug)) for one in some
                ]
                groups.append(EditionGroup(kind, title, listed, len(of_kind)))
        return groups

    async def _open_jobs(self, request: PageRequest, org: Org, project: Project) -> list[OpenJob]:
        found = await request.site.service.queue.list(
            status=[Status.QUEUED, Status.IN_PROGRESS], org_id=org.slug, project_id=project.id, limit=SHOWN_JOBS
        )
        return [OpenJob(job, progress_of(job)) for job in found.jobs]

    async def _search(self, request: PageRequest, org: Org, project: Project) -> PageSearch | None:
        """Pages of an edition: `?search=&in=`. None where nothing is searched for."""
        text, slug = read_query(request, "search"), read_query(request, "in", 128) or MAIN
        if not text:
            return None
        edition = await self._app.editions.get(org.slug, project.slug, slug)
        hits = await self._app.search.find(org.slug, project.slug, edition.slug, text, limit=SHOWN_HITS)
        return PageSearch(text, edition.slug, self._urls.edition(org, project.slug, edition.slug), hits)

    async def _preview(self, request: PageRequest, project: Project) -> tuple[SlugPreview | None, Refused | None]:
        """Which edition a ref would make: `?ref=&alternate=`. What cannot be a ref is told beside the form."""
        ref, alternate = (read_query(request, name, 256) for name in ("ref", "alternate"))
        if not ref:
            return None, None
        try:
            preview = await self._app.orgs.preview_slug(
                project.org, ref, project=project.slug, alternate_name=alternate or None
            )
        except InvalidArgument as refusal:
            return None, refusal
        return preview, None

    async def create_edition(self, request: PageRequest, org: str, project: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        try:
            draft = _edition_draft(request)
            edition = await self._app.editions.create(org, shown.slug, draft)
        except Refused as refusal:
            return await self._project_page(request, owner, shown, refused_form(request, "edition", refusal), refusal)
        await request.record_audit("docs.edition.create", edition_target(shown, edition.slug), after={"kind": edition.kind})
        return request.redirect(edition_path(shown, edition.slug), f"The edition {edition.slug} is created.")

    async def rebuild_dashboard(self, request: PageRequest, org: str, project: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        try:
            jobs = await self._app.projects.rebuild_dashboard(org, shown.slug, actor=request.caller.name)
        except Refused as refusal:
            return await self._project_page(request, owner, shown, refused_form(request, "actions", refusal), refusal)
        await request.record_audit("docs.dashboard.rebuild", project_target(shown), after={"jobs": [str(job) for job in jobs]})
        return request.redirect(project_path(shown), "The dashboard will be rendered again.")

    async def delete(self, request: PageRequest, org: str, project: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        try:
            await self._app.projects.delete(org, shown.slug, actor=request.caller.name)
        except Refused as refusal:
            return await self._project_page(request, owner, shown, refused_form(request, "actions", refusal), refusal)
        await request.record_audit("docs.project.delete", project_target(shown), before={"title": shown.title})
        notice = f"The project {shown.slug} is deleted. Until it is purged, it can be restored here."
        return request.redirect(f"{org_path(org)}/purgatory", notice)

    async def show_change(self, request: PageRequest, org: str, project: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        return self._change_page(request, owner, shown, FilledForm(_change_values(shown)))

    def _change_page(
        self,
        request: PageRequest,
        org: Org,
        project: Project,
        form: FilledForm,
        problem: PressroomError | None = None,
        plans: Sequence[ProjectPlan] | None = None,
    ) -> Response:
        return render_page(
            request,
            "project_change.html",
            problem=problem,
            org=org,
            project=project,
            form=form,
            org_rewrite_rules=as_json(org.slug_rewrite_rules),
            org_lifecycle_rules=as_json(org.lifecycle_rules),
            plans=plans,
            shown_deletions=SHOWN_DELETIONS,
        )

    async def dry_run(self, request: PageRequest, org: str, project: str) -> Response:
        """What lifecycle rules would delete if those of the form were saved. The form stays as it was typed."""
        owner, shown = await get_own_project(request, self._app, org, project)
        try:
            rules = inherited_rules_of(request.form, "lifecycle_rules")
            rules = owner.lifecycle_rules if rules is None else rules
            plans = await request.read(partial(plan_org, org, project=shown.slug, rules=rules))
        except Refused as refusal:
            return self._change_page(request, owner, shown, refused_form(request, "change", refusal), refusal)
        return self._change_page(request, owner, shown, FilledForm(form_values(request.form)), plans=plans)

    async def change(self, request: PageRequest, org: str, project: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        try:
            changed = await self._app.projects.change(org, shown.slug, _project_changes(request, shown))
        except Refused as refusal:
            return self._change_page(request, owner, shown, refused_form(request, "change", refusal), refusal)
        before, after = changed_fields(shown, changed)
        await request.record_audit("docs.project.change", project_target(shown), before=before, after=after)
        return request.redirect(project_path(shown), "The project's settings are saved.")


def project_target(project: Project) -> str:
    return f"project {project.org}/{project.slug}"


def edition_target(project: Project, slug: str) -> str:
    return f"edition {project.org}/{project.slug}/{slug}"


def _edition_draft(request: PageRequest) -> EditionDraft:
    form = request.form
    mode = choice_of(form, "tracking_mode", TrackingMode)
    return EditionDraft(
        slug=text_of(form, "slug"),
        title=text_of(form, "title"),
        kind=choice_of(form, "kind", EditionKind),
        tracking_mode=mode,
        tracking_params=tracking_params_of(form, mode),
        lifecycle_exempt=form.get("lifecycle_exempt") == "yes",
    )


def _project_changes(request: PageRequest, project: Project) -> ProjectChanges:
    form = request.form
    retention = None
    if form.get("purgatory_retention").strip():
        retention = days_of(form, "purgatory_retention", project.purgatory_retention)
    return ProjectChanges(
        title=text_of(form, "title"),
        source_url=text_of(form, "source_url"),
        git_url=text_of(form, "git_url"),
        slug_rewrite_rules=inherited_rules_of(form, "slug_rewrite_rules"),
        lifecycle_rules=inherited_rules_of(form, "lifecycle_rules"),
        auto_create=auto_create_of(form) if form.get("own_auto_create") == "yes" else None,
        purgatory_retention=retention,
        on_broken_links=text_of(form, "on_broken_links"),
        noindex=kinds_of(form, "noindex"),
    )


def _change_values(project: Project) -> dict[str, str]:
    """What the form shows before anything is typed."""
    retention = project.purgatory_retention
    return {
        "title": project.title,
        "source_url": project.source_url,
        "git_url": project.git_url,
        "slug_rewrite_rules": as_json(project.slug_rewrite_rules),
        "lifecycle_rules": as_json(project.lifecycle_rules),
        "own_auto_create": "" if project.auto_create is None else "yes",
        "auto_create": chosen_auto_create(project.auto_create or AutoCreate()),
        "purgatory_retention": "" if retention is None else str(retention // DAY),
        "on_broken_links": project.on_broken_links,
        "noindex": " ".join(project.noindex),
    }


def chosen_auto_create(auto_create: AutoCreate) -> str:
    return " ".join(name for name, chosen in msgspec.structs.asdict(auto_create).items() if chosen)


def changed_fields(before: msgspec.Struct, after: msgspec.Struct) -> tuple[dict[str, Any], dict[str, Any]]:
    """What differs, for the audit log."""
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    names = [name for name in old if old[name] != new[name] and name != "date_changed"]
    return {name: old[name] for name in names}, {name: new[name] for name in names}
