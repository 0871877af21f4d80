"""An organisation with a project whose editions show builds, made of rows alone: what dashboards are rendered from."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pressroom import Pressroom, artifact_lifecycle
from pressroom.apps.docs.app import DocsApp
from pressroom.apps.docs.model import MAIN, AutoCreate, Edition, EditionKind, Org, Project, TrackingMode, TrackingParams
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import builds, editions, orgs, projects
from pressroom.apps.docs.store.builds import Inventory, NewBuild
from pressroom.apps.docs.store.editions import EditionMove, NewEdition
from pressroom.ids import new_uid
from pressroom.model import Statement, Work
from pressroom.store.artifacts import artifacts

MAIN_EDITION = NewEdition(
    slug=MAIN,
    title="Latest",
    kind=EditionKind.MAIN,
    tracking_mode=TrackingMode.GIT_REF,
    tracking_params=TrackingParams(git_ref="main"),
    lifecycle_exempt=True,
)


class DocsStage:
    """A press with the docs app. Methods write rows as the app's own units of work do."""

    def __init__(self, press: Pressroom) -> None:
        self.press = press
        app = press.app("docs")
        assert isinstance(app, DocsApp)
        self.app = app
        self.database = press.rendering.database

    async def run(self, unit: Any) -> Any:
        return await self.database.run(unit, name="test")

    async def new_org(self, slug: str = "acme", **fields: Any) -> Org:
        org = Org(
            slug=slug,
            title=fields.pop("title", "Acme Instruments"),
            base_domain=fields.pop("base_domain", ""),
            url_scheme=fields.pop("url_scheme", "path_prefix"),
            root_path_prefix="/",
            slug_rewrite_rules=[],
            lifecycle_rules=fields.pop("lifecycle_rules", []),
            auto_create=AutoCreate(),
            default_edition=None,
            purgatory_retention=86_400,
            is_private=False,
            slots={},
            date_created=0,
            date_changed=0,
        )
        return await self.run(partial(orgs.insert_org, org, ()))  # type: ignore[no-any-return]

    async def new_project(self, slug: str = "guide", *, org: str = "acme", **fields: Any) -> Project:
        project = Project(
            id="",
            org=org,
            slug=slug,
            title=fields.pop("title", "Field guide"),
            source_url=fields.pop("source_url", "https://git.example.org/acme/guide"),
            git_url=fields.pop("git_url", ""),
            slug_rewrite_rules=None,
            lifecycle_rules=fields.pop("lifecycle_rules", None),
            auto_create=None,
            purgatory_retention=None,
            on_broken_links="warn",
            noindex=[],
            last_number=0,
            editions_version=0,
            dashboard=None,
            dashboard_version=0,
            date_created=0,
            date_changed=0,
            date_deleted=None,
        )
        return await self.run(partial(projects.insert_project, project, MAIN_EDITION))  # type: ignore[no-any-return]

    async def show(self, project: Project, slug: str, git_ref: str, kind: str = "release", **fields: Any) -> Edition:
        """A build of the ref, shown by the edition, which is created if the project does not have it."""
        content = await artifact_lifecycle.store_file(
            self.press.rendering.blobs, self.database, "index.html", git_ref.encode(), media_type="text/html"
        )
        draft = artifact_lifecycle.bundle_draft([content], media_type="text/html", with_link=False)
        new = NewEdition(
            slug=slug,
            title=fields.pop("title", slug),
            kind=EditionKind(kind),
            tracking_mode=TrackingMode(fields.pop("mode", "git_ref")),
            tracking_params=TrackingParams(**fields.pop("params", {"git_ref": git_ref})),
            lifecycle_exempt=fields.pop("exempt", False),
        )
        annotations = {"commit_sha": "9f3c2a7be51c", **fields.pop("annotations", {})}

        def unit() -> Work[Edition]:
            yield from artifacts.record(draft, org_id=project.org, keep_for=60_000)
            build = yield from builds.insert_build(
                project.id,
                NewBuild(git_ref=git_ref, content_hash="sha256:" + "0" * 64, annotations=annotations, uploader="test"),
                None,
            )
            yield from builds.start_build(build, new_uid())
            inventory = Inventory(artifact=draft.uid, object_count=1, total_size=10, broken_links=0, problems=[])
            yield from builds.record_inventory(build.uid, inventory)
            yield from builds.complete_build(build.uid)
            if slug != MAIN:
                yield from editions.insert_edition(project.id, new)
            edition = yield from editions.get_edition(project.id, slug)
            move = EditionMove(
                edition=edition.id,
                expected_seq=edition.publish_seq,
                build=build.uid,
                artifact=draft.uid,
                trigger="build",
                actor="test",
                job_uid=None,
            )
            seq = yield from editions.move_edition(move)
            assert seq is not None
            yield from editions.mark_published(edition.id, seq)
            yield from projects.touch_editions(project.id)
            return (yield from editions.get_edition(project.id, slug))

        return await self.run(unit)  # type: ignore[no-any-return]

    async def project(self, project: Project) -> Project:
        return await self.run(partial(projects.get_project_by_id, project.id))  # type: ignore[no-any-return]

    async def touch(self, project: Project) -> int:
        return await self.run(partial(projects.touch_editions, project.id))  # type: ignore[no-any-return]

    async def rows(self, sql: str, **params: Any) -> list[Any]:
        async with self.press.transaction() as transaction:
            return await transaction.execute(sql, params)


@asynccontextmanager
async def docs_stage(
    database: str, *, workers: int | None = None, settings: DocsSettings | None = None, **options: Any
) -> AsyncIterator[DocsStage]:
    sections = {"docs": settings or DocsSettings()}
    async with Pressroom(
        database, workers=workers, apps=["docs"], sections=sections, **({"poll_interval": 0.05} | options)
    ) as press:
        yield DocsStage(press)


__all__ = ["DocsStage", "Statement", "docs_stage"]
