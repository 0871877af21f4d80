"""The page of an edition: what it shows and has shown, and how that is changed."""

from typing import TYPE_CHECKING

from starlette.responses import Response

from pressroom.apps.docs.errors import BuildNotFound
from pressroom.apps.docs.model import Build, BuildStatus, Edition, EditionKind, Org, Project, TrackingMode
from pressroom.apps.docs.pages.form_fields import (
    WrongField,
    choice_of,
    text_of,
    tracking_params_of,
)
from pressroom.apps.docs.pages.paths import edition_path, project_path
from pressroom.apps.docs.pages.project_page import changed_fields, edition_target
from pressroom.apps.docs.pages.sites_page import refused_form
from pressroom.apps.docs.pages.views import FilledForm, get_own_project, parse_build_id, render_page
from pressroom.apps.docs.requests import EditionChanges, Rollback
from pressroom.apps.docs.store.editions import BEYOND
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import PressroomError, Refused
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

PAGE_SIZE = 50
CHOSEN_BUILDS = 50


class EditionPages:
    def __init__(self, app: "DocsApp") -> None:
        self._app = app
        self._urls = PublishedUrls(app.settings)

    async def show(self, request: PageRequest, org: str, project: str, slug: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        return await self._edition_page(request, owner, shown, await self._app.editions.get(org, shown.slug, slug))

    async def _edition_page(
        self,
        request: PageRequest,
        org: Org,
        project: Project,
        edition: Edition,
        form: FilledForm | None = None,
        problem: PressroomError | None = None,
    ) -> Response:
        cursor = request.cursor(r"[0-9]{1,16}")
        history = await self._app.editions.list_history(
            org.slug, project.slug, edition.slug, before=int(cursor) if cursor else BEYOND, limit=PAGE_SIZE + 1
        )
        listed, more = history[:PAGE_SIZE], len(history) > PAGE_SIZE
        return render_page(
            request,
            "edition.html",
            problem=problem,
            org=org,
            project=project,
            edition=edition,
            build=await self._shown_build(org, project, edition),
            history=listed,
            cursor=listed[-1].entry.seq if more else None,
            first=bool(cursor),
            builds=await self._usable_builds(org, project, edition),
            modes=list(TrackingMode),
            site_url=self._urls.edition(org, project.slug, edition.slug),
            form=form or FilledForm(_form_values_of(edition)),
        )

    async def _shown_build(self, org: Org, project: Project, edition: Edition) -> Build | None:
        try:
            return None if edition.build is None else await self._app.builds.get(org.slug, project.slug, edition.build)
        except BuildNotFound:
            return None

    async def _usable_builds(self, org: Org, project: Project, edition: Edition) -> list[Build]:
        builds, _ = await self._app.builds.list(org.slug, project.slug, status=BuildStatus.COMPLETED, limit=CHOSEN_BUILDS)
        return [one for one in builds if one.uid != edition.build]

    async def change(self, request: PageRequest, org: str, project: str, slug: str) -> Response:
        return await self._save(request, org, project, slug, "change", "The edition is changed.")

    async def pin(self, request: PageRequest, org: str, project: str, slug: str) -> Response:
        pinned = request.form.get("pinned") == "yes"
        notice = "The edition is pinned: builds do not move it." if pinned else "The edition is unpinned: builds move it again."
        return await self._save(request, org, project, slug, "pin", notice)

    async def set_build(self, request: PageRequest, org: str, project: str, slug: str) -> Response:
        return await self._save(request, org, project, slug, "build", "The edition will show the build once its job is done.")

    async def _save(self, request: PageRequest, org: str, project: str, slug: str, form: str, notice: str) -> Response:
        """What is refused is told in the form `form`."""
        owner, shown = await get_own_project(request, self._app, org, project)
        edition = await self._app.editions.get(org, shown.slug, slug)
        try:
            changes = _FORMS[form](request)
            changed, job = await self._app.editions.change(org, shown.slug, slug, changes, actor=request.caller.name)
        except Refused as refusal:
            return await self._refused(request, owner, shown, edition, form, refusal)
        before, after = changed_fields(edition, changed)
        if job is not None:
            after["job"] = str(job)
        await request.record_audit("docs.edition.change", edition_target(shown, edition.slug), before=before, after=after)
        return request.redirect(edition_path(shown, edition.slug), notice)

    async def roll_back(self, request: PageRequest, org: str, project: str, slug: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        edition = await self._app.editions.get(org, shown.slug, slug)
        try:
            rollback = Rollback(build=_build_of(request), pinned=request.form.get("stay") == "yes")
            job = await self._app.editions.roll_back(org, shown.slug, slug, rollback, actor=request.caller.name)
        except Refused as refusal:
            return await self._refused(request, owner, shown, edition, "history", refusal)
        after = {"build": rollback.build, "pinned": rollback.pinned, "job": str(job)}
        await request.record_audit("docs.edition.roll_back", edition_target(shown, edition.slug), after=after)
        notice = (
            "The edition is being rolled back, and stays there." if rollback.pinned else "The edition is being rolled back."
        )
        return request.redirect(edition_path(shown, edition.slug), notice)

    async def delete(self, request: PageRequest, org: str, project: str, slug: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        edition = await self._app.editions.get(org, shown.slug, slug)
        try:
            await self._app.editions.delete(org, shown.slug, slug, actor=request.caller.name)
        except Refused as refusal:
            return await self._refused(request, owner, shown, edition, "delete", refusal)
        await request.record_audit("docs.edition.delete", edition_target(shown, edition.slug), before={"build": edition.build})
        notice = f"The edition {edition.slug} is deleted. Until it is purged, it can be restored from purgatory."
        return request.redirect(project_path(shown), notice)

    async def _refused(
        self, request: PageRequest, org: Org, project: Project, edition: Edition, form: str, refusal: Refused
    ) -> Response:
        """The page again. Only the form of changes has fields that were typed."""
        filled = refused_form(request, form, refusal)
        if form != "change":
            filled = FilledForm(_form_values_of(edition), filled.problem)
        return await self._edition_page(request, org, project, edition, filled, refusal)


def _build_of(request: PageRequest) -> str:
    uid = parse_build_id(request.form.get("build"))
    if uid is None:
        raise WrongField("build", "choose a build")
    return uid


def _read_change(request: PageRequest) -> EditionChanges:
    form = request.form
    mode = choice_of(form, "tracking_mode", TrackingMode)
    return EditionChanges(
        title=text_of(form, "title"),
        kind=choice_of(form, "kind", EditionKind),
        tracking_mode=mode,
        tracking_params=tracking_params_of(form, mode),
        lifecycle_exempt=form.get("lifecycle_exempt") == "yes",
    )


def _read_pin(request: PageRequest) -> EditionChanges:
    return EditionChanges(pinned=request.form.get("pinned") == "yes")


def _read_build(request: PageRequest) -> EditionChanges:
    return EditionChanges(build=_build_of(request), pinned=request.form.get("stay") == "yes")


_FORMS = {"change": _read_change, "pin": _read_pin, "build": _read_build}


def _form_values_of(edition: Edition) -> dict[str, str]:
    params = edition.tracking_params
    numbers = {"major_version": params.major_version, "minor_version": params.minor_version}
    return {
        "title": edition.title,
        "kind": edition.kind,
        "tracking_mode": edition.tracking_mode,
        "git_ref": params.git_ref or "",
        "alternate_name": params.alternate_name or "",
        "lifecycle_exempt": "yes" if edition.lifecycle_exempt else "",
        **{name: "" if number is None else str(number) for name, number in numbers.items()},
    }
