"""Editions: create, change, move, roll back, and their history."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import msgspec
from msgspec import UNSET

from pressroom.app import Core
from pressroom.apps.docs.domain.slugs import check_slug
from pressroom.apps.docs.errors import BuildNotFound, BuildNotUsable, MainEditionStays, SlugTaken
from pressroom.apps.docs.model import Build, BuildStatus, Edition, EditionKind, Project
from pressroom.apps.docs.operations import checks, dashboard_jobs, edition_jobs
from pressroom.apps.docs.operations.order import sort_editions
from pressroom.apps.docs.operations.projects import find_with_org
from pressroom.apps.docs.requests import EditionChanges, EditionDraft, Rollback
from pressroom.apps.docs.store import builds as build_rows
from pressroom.apps.docs.store import editions as rows
from pressroom.apps.docs.store import purgatory
from pressroom.apps.docs.store.editions import BEYOND, EditionHistoryLine, NewEdition
from pressroom.apps.docs.store.projects import lock_project, touch_editions
from pressroom.apps.docs.store.purgatory import Deleter
from pressroom.errors import NotFound
from pressroom.ids import parse_uid
from pressroom.model import Submitted, Work
from pressroom.store import Transaction


class Editions:
    """`org`, `project` and `slug` are slugs. Raises EditionNotFound and the like."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(self, org: str, project: str, draft: EditionDraft) -> Edition:
        """Raises InvalidArgument and SlugTaken (slugs are compared without regard to case)."""
        check_slug("edition", draft.slug)
        checks.check_kind_of_slug(draft.kind)
        checks.check_tracking(draft.tracking_mode, draft.tracking_params)
        new = NewEdition(
            slug=draft.slug,
            title=checks.check_title(draft.title, draft.slug),
            kind=draft.kind,
            tracking_mode=draft.tracking_mode,
            tracking_params=draft.tracking_params,
            lifecycle_exempt=draft.lifecycle_exempt,
            pinned=draft.pinned,
        )

        def unit() -> Work[tuple[Project, Edition]]:
            _, found = yield from find_with_org(org, project)
            locked = yield from lock_project(found.id)
            if not (yield from rows.insert_edition(locked.id, new)):
                raise SlugTaken("edition", new.slug)
            yield from touch_editions(locked.id)
            return locked, (yield from rows.get_edition(locked.id, new.slug))

        async with self._core.queue.transaction() as tx:
            owner, edition = await tx.run(unit, name="docs")
            await dashboard_jobs.submit(self._core.queue, owner, within=tx)
        return edition

    async def get(self, org: str, project: str, slug: str) -> Edition:
        return (await self._core.database.read(partial(_find, org, project, slug)))[1]

    async def list(self, org: str, project: str) -> Sequence[Edition]:
        """All of a project, __main first, then by kind and newest version first."""

        def unit() -> Work[list[Edition]]:
            _, found = yield from find_with_org(org, project)
            return (yield from rows.list_editions(found.id))

        return sort_editions(await self._core.database.read(unit))

    async def change(
        self, org: str, project: str, slug: str, changes: EditionChanges, *, actor: str
    ) -> tuple[Edition, Submitted | None]:
        """With `build`, the job that moves it (Q25). Raises BuildNotUsable, MainEditionStays."""

        def unit() -> Work[tuple[Project, Edition, Build | None]]:
            _, of_slug = yield from find_with_org(org, project)
            owner = yield from lock_project(of_slug.id)
            edition = yield from rows.get_edition(owner.id, slug)
            build = None if changes.build is UNSET else (yield from _find_usable(owner, changes.build))
            changed = _with_changes(edition, changes)
            if changed != edition:
                yield from rows.save_edition(changed)
                yield from touch_editions(owner.id)
            return owner, (yield from rows.get_edition(owner.id, slug)), build

        async with self._core.queue.transaction() as tx:
            owner, edition, build = await tx.run(unit, name="docs")
            if build is not None:
                return edition, await self._submit_move(owner, edition, build, "patch", actor, None, tx)
            await dashboard_jobs.submit(self._core.queue, owner, actor=actor, within=tx)
        return edition, None

    async def roll_back(self, org: str, project: str, slug: str, rollback: Rollback, *, actor: str) -> Submitted:
        """To a build of its history (404 for one that is not in it)."""

        def unit() -> Work[tuple[Project, Edition, Build]]:
            _, of_slug = yield from find_with_org(org, project)
            owner = yield from lock_project(of_slug.id)
            edition = yield from rows.get_edition(owner.id, slug)
            build = yield from build_rows.get_build(owner.id, _parsed(rollback.build), include_deleted=True)
            if not (yield from rows.was_shown(edition.id, build.uid)):
                raise BuildNotFound
            require_usable(build)
            return owner, edition, build

        async with self._core.queue.transaction() as tx:
            owner, edition, build = await tx.run(unit, name="docs")
            pinned = True if rollback.pinned else None
            return await self._submit_move(owner, edition, build, "rollback", actor, pinned, tx)

    async def _submit_move(
        self,
        project: Project,
        edition: Edition,
        build: Build,
        trigger: Literal["patch", "rollback"],
        actor: str,
        pinned: bool | None,
        within: Transaction,
    ) -> Submitted:
        return await edition_jobs.submit_move(
            self._core.queue, project, edition, build.uid, trigger=trigger, actor=actor, pinned=pinned, within=within
        )

    async def list_history(
        self,
        org: str,
        project: str,
        slug: str,
        *,
        include_deleted: bool = False,
        before: int = BEYOND,
        limit: int = 100,
    ) -> Sequence[EditionHistoryLine]:
        def unit() -> Work[list[EditionHistoryLine]]:
            _, edition = yield from _find(org, project, slug)
            return (yield from rows.list_history(edition.id, include_deleted=include_deleted, before=before, limit=limit))

        return await self._core.database.read(unit)

    async def delete(self, org: str, project: str, slug: str, *, actor: str, reason: str = "deleted by hand") -> None:
        """Into purgatory. Raises MainEditionStays. A job takes it away from where readers get it."""
        checks.check_reason(reason)

        def unit() -> Work[tuple[Project, Edition]]:
            found, of_slug = yield from find_with_org(org, project)
            owner = yield from lock_project(of_slug.id)
            edition = yield from rows.get_edition(owner.id, slug)
            deleter = Deleter(actor, reason, purgatory.retention_of(found, owner))
            yield from purgatory.delete_edition(owner, edition, deleter)
            return owner, edition

        async with self._core.queue.transaction() as tx:
            owner, edition = await tx.run(unit, name="docs")
            await edition_jobs.submit_publish(self._core.queue, owner, edition, actor=actor, within=tx)


def require_usable(build: Build) -> None:
    """Raises BuildNotUsable for a build that no edition may come to show."""
    if build.date_deleted is not None:
        raise BuildNotUsable(f"the build {build.uid} is deleted; restore it first")
    if build.status is not BuildStatus.COMPLETED:
        raise BuildNotUsable(f"the build {build.uid} is {build.status}; an edition shows completed builds")


def _find(org: str, project: str, slug: str) -> Work[tuple[Project, Edition]]:
    _, found = yield from find_with_org(org, project)
    return found, (yield from rows.get_edition(found.id, slug))


def _find_usable(project: Project, uid: str) -> Work[Build]:
    build = yield from build_rows.get_build(project.id, _parsed(uid), include_deleted=True)
    require_usable(build)
    return build


def _parsed(uid: str) -> str:
    try:
        return parse_uid(uid)
    except NotFound:
        raise BuildNotFound from None


def _with_changes(edition: Edition, changes: EditionChanges) -> Edition:
    names = ("title", "kind", "tracking_mode", "tracking_params", "lifecycle_exempt", "pinned")
    given = {name: value for name in names if (value := getattr(changes, name)) is not UNSET}
    changed = msgspec.structs.replace(edition, **given)
    if changed.kind is not edition.kind:
        if edition.kind is EditionKind.MAIN:
            raise MainEditionStays
        checks.check_kind_of_slug(changed.kind)
    if "tracking_mode" in given or "tracking_params" in given:
        checks.check_tracking(changed.tracking_mode, changed.tracking_params)
    return msgspec.structs.replace(changed, title=checks.check_title(changed.title, edition.slug))
