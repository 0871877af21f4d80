"""Projects: create, change, delete, and what they store."""

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec import UNSET

from pressroom.app import Core
from pressroom.apps.docs.domain.lifecycle import LifecycleRules
from pressroom.apps.docs.domain.slugs import RewriteRules, check_slug
from pressroom.apps.docs.model import Org, Project
from pressroom.apps.docs.operations import checks, dashboard_jobs, edition_jobs
from pressroom.apps.docs.requests import ProjectChanges, ProjectDraft
from pressroom.apps.docs.store import orgs as org_rows
from pressroom.apps.docs.store import projects as rows
from pressroom.apps.docs.store import purgatory, storage
from pressroom.apps.docs.store.purgatory import Deleter
from pressroom.apps.docs.store.storage import Storage
from pressroom.errors import InvalidArgument
from pressroom.model import Submitted, Work

__all__ = ["Projects", "Storage"]

ORDERS = ("slug", "date_created")
PROJECTS_AT_ONCE = 200


class Projects:
    """`org` and `project` are slugs. Every method raises OrgNotFound and ProjectNotFound."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(self, org: str, draft: ProjectDraft) -> Project:
        """With its edition __main. Raises InvalidArgument and SlugTaken."""
        check_slug("project", draft.slug)
        project = _checked(
            Project(
                id="",
                org=org,
                slug=draft.slug,
                title=draft.title,
                source_url=draft.source_url,
                git_url=draft.git_url,
                slug_rewrite_rules=draft.slug_rewrite_rules,
                lifecycle_rules=draft.lifecycle_rules,
                auto_create=draft.auto_create,
                purgatory_retention=draft.purgatory_retention,
                on_broken_links=draft.on_broken_links,
                noindex=[kind.value for kind in draft.noindex],
                last_number=0,
                editions_version=0,
                dashboard=None,
                dashboard_version=0,
                date_created=0,
                date_changed=0,
                date_deleted=None,
            )
        )
        checks.main_edition(draft.default_edition_config)

        def unit() -> Work[Project]:
            found = yield from org_rows.get_org(org)
            main = checks.main_edition(draft.default_edition_config, found.default_edition)
            return (yield from rows.insert_project(project, main))

        return await self._core.database.run(unit, name="docs")

    async def get(self, org: str, project: str) -> Project:
        return (await self.get_with_org(org, project))[1]

    async def get_with_org(self, org: str, project: str) -> tuple[Org, Project]:
        return await self._core.database.read(partial(find_with_org, org, project))

    async def list(
        self, org: str, *, text: str = "", order: str = "slug", after: str = "", limit: int = 100
    ) -> tuple[Sequence[Project], int]:
        """One page and how many there are. `order` is "slug" or "date_created" (newest first); `after` is the slug or the id of
        the last one of the page before."""
        if order not in ORDERS:
            raise InvalidArgument(f"order: {order[:80]!r} is not {' or '.join(ORDERS)}")
        checks.check_text("q", text, 200)

        def unit() -> Work[tuple[Sequence[Project], int]]:
            yield from org_rows.get_org(org)
            count = yield from rows.count_projects(org, text=text)
            if order == "slug":
                return (yield from rows.list_projects(org, text=text, after=after, limit=limit)), count
            return (yield from rows.list_newest_projects(org, text=text, before=after, limit=limit)), count

        return await self._core.database.read(unit)

    async def change(self, org: str, project: str, changes: ProjectChanges) -> Project:
        """Its dashboard is rendered again, by a job."""
        async with self._core.queue.transaction() as tx:
            saved = await tx.run(partial(_save, org, project, changes), name="docs")
            await dashboard_jobs.submit(self._core.queue, saved, within=tx)
        return saved

    async def delete(self, org: str, project: str, *, actor: str, reason: str = "deleted by hand") -> None:
        """Into purgatory. A job takes its editions away from where readers get them."""
        checks.check_reason(reason)

        def unit() -> Work[Project]:
            found, of_slug = yield from find_with_org(org, project)
            locked = yield from rows.lock_project(of_slug.id)
            deleter = Deleter(actor, reason, purgatory.retention_of(found, locked))
            yield from purgatory.delete_project(locked, deleter)
            return locked

        async with self._core.queue.transaction() as tx:
            deleted = await tx.run(unit, name="docs")
            await edition_jobs.submit_publish(self._core.queue, deleted, None, actor=actor, within=tx)

    async def measure(self, org: str, project: str) -> Storage:
        found = await self.get(org, project)
        return await self._core.database.read(partial(storage.measure_storage, found.id))

    async def rebuild_dashboard(self, org: str, project: str | None, *, actor: str) -> Sequence[Submitted]:
        """Of one project, or of all of an organisation."""
        if project is not None:
            found = await self.get(org, project)
            return [await dashboard_jobs.submit(self._core.queue, found, actor=actor)]
        submitted: list[Submitted] = []
        after = ""
        while page := (await self.list(org, after=after, limit=PROJECTS_AT_ONCE))[0]:
            submitted += await dashboard_jobs.submit_many(self._core.queue, page, actor=actor)
            after = page[-1].slug
        return submitted


def find_with_org(org: str, project: str) -> Work[tuple[Org, Project]]:
    """A unit of work. Raises OrgNotFound and ProjectNotFound."""
    found = yield from org_rows.get_org(org)
    return found, (yield from rows.get_project(org, project))


def _save(org: str, project: str, changes: ProjectChanges) -> Work[Project]:
    _, found = yield from find_with_org(org, project)
    locked = yield from rows.lock_project(found.id)
    given = {name: value for name in changes.__struct_fields__ if (value := getattr(changes, name)) is not UNSET}
    if "noindex" in given:
        given["noindex"] = [kind.value for kind in given["noindex"]]
    return (yield from rows.save_project(_checked(msgspec.structs.replace(locked, **given))))


def _checked(project: Project) -> Project:
    """With its values as they are kept. Raises InvalidArgument."""
    if project.slug_rewrite_rules is not None:
        checks.check_json("slug_rewrite_rules", project.slug_rewrite_rules, checks.RULES_BYTES)
        RewriteRules(project.slug_rewrite_rules, source="project")
    if project.lifecycle_rules is not None:
        checks.check_json("lifecycle_rules", project.lifecycle_rules, checks.RULES_BYTES)
        LifecycleRules(project.lifecycle_rules)
    if project.purgatory_retention is not None:
        checks.check_retention("purgatory_retention", project.purgatory_retention)
    return msgspec.structs.replace(
        project,
        title=checks.check_title(project.title, project.slug),
        source_url=checks.check_source_url(project.source_url),
        git_url=checks.check_git_url(project.git_url),
        on_broken_links=checks.check_on_broken_links(project.on_broken_links),
        noindex=list(dict.fromkeys(project.noindex)),
    )
