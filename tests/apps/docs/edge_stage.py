"""The edge on a real server, and rows of builds and editions as the operations write them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx

from pressroom import Pressroom, artifact_lifecycle
from pressroom.api import serve as server
from pressroom.apps.docs.app import DocsApp
from pressroom.apps.docs.edge.application import Edge
from pressroom.apps.docs.edge.making import make_edge
from pressroom.apps.docs.model import MAIN, AutoCreate, EditionKind, Org, Project, TrackingMode
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import builds, editions, orgs, projects
from pressroom.apps.docs.store.builds import Inventory, NewBuild
from pressroom.apps.docs.store.editions import EditionMove, NewEdition
from pressroom.ids import new_uid
from pressroom.store.artifacts import artifacts

HASH = f"sha256:{'0' * 64}"
PAGE = "<!doctype html><title>{0}</title><h1>{0}</h1>"
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "png": "image/png", "txt": "text/plain"}


def page(text: str) -> bytes:
    return PAGE.format(text).encode()


def an_org(slug: str = "acme", **fields: Any) -> Org:
    usual: dict[str, Any] = {
        "title": slug.title(),
        "base_domain": "",
        "url_scheme": "path_prefix",
        "root_path_prefix": "/",
        "slug_rewrite_rules": [],
        "lifecycle_rules": [],
        "auto_create": AutoCreate(),
        "default_edition": None,
        "purgatory_retention": 0,
        "is_private": False,
        "slots": {},
        "date_created": 0,
        "date_changed": 0,
    }
    return Org(slug=slug, **(usual | fields))


def a_project(org: str, slug: str, **fields: Any) -> Project:
    usual: dict[str, Any] = {
        "id": "",
        "title": "The guide",
        "source_url": "",
        "git_url": "",
        "slug_rewrite_rules": None,
        "lifecycle_rules": None,
        "auto_create": None,
        "purgatory_retention": None,
        "on_broken_links": "warn",
        "noindex": [],
        "last_number": 0,
        "editions_version": 0,
        "dashboard": None,
        "dashboard_version": 0,
        "date_created": 0,
        "date_changed": 0,
        "date_deleted": None,
    }
    return Project(org=org, slug=slug, **(usual | fields))


@dataclass
class DocsClock:
    """A second passes when the test says so."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now

    def pass_time(self, seconds: float = 1.0) -> None:
        self.now += seconds


@dataclass
class EdgeStage:
    press: Pressroom
    edge: Edge
    port: int
    http: httpx.AsyncClient
    clock: DocsClock
    projects: dict[str, Project] = field(default_factory=dict)

    @property
    def app(self) -> DocsApp:
        app = self.press.app("docs")
        assert isinstance(app, DocsApp)
        return app

    async def run(self, unit: Callable[[], Any]) -> Any:
        return await self.app.core.database.run(unit, name="test")

    async def change(self, sql: str, **params: Any) -> None:
        async with self.app.core.database.transaction() as transaction:
            await transaction.execute(sql, params)

    async def add_project(self, slug: str = "guide", org: Org | None = None, **fields: Any) -> Project:
        org = org or an_org()
        if not await self.app.core.database.read(partial(orgs.list_orgs, org.slug)):
            await self.run(partial(orgs.insert_org, org, ()))
        main = NewEdition(slug=MAIN, title="Main", kind=EditionKind.MAIN, tracking_mode=TrackingMode.GIT_REF)
        project: Project = await self.run(partial(projects.insert_project, a_project(org.slug, slug, **fields), main))
        self.projects[slug] = project
        return project

    async def add_build(
        self, files: Mapping[str, bytes], *, project: str = "guide", ref: str = "main", types: Mapping[str, str] = TYPES
    ) -> tuple[str, str]:
        """The ids of a completed build and of its artifact."""
        blobs, database = self.app.core.rendering.blobs, self.app.core.database
        stored = []
        for path, data in files.items():
            media_type = types.get(path.rpartition(".")[2], "application/octet-stream")
            stored.append(await artifact_lifecycle.store_file(blobs, database, path, data, media_type=media_type))
        draft = artifact_lifecycle.bundle_draft(stored, media_type="application/x-site", with_link=False)
        await self.run(partial(artifacts.record, draft, holder=f"test:{draft.uid}"))
        id = self.projects[project].id
        build = await self.run(partial(builds.insert_build, id, NewBuild(git_ref=ref, content_hash=HASH), None))
        await self.run(partial(builds.start_build, build, new_uid()))
        inventory = Inventory(artifact=draft.uid, object_count=len(files), total_size=draft.size, broken_links=0, problems=[])
        await self.run(partial(builds.record_inventory, build.uid, inventory))
        await self.run(partial(builds.complete_build, build.uid))
        return build.uid, draft.uid

    async def show(
        self, build: tuple[str, str], edition: str = MAIN, *, project: str = "guide", kind: EditionKind = EditionKind.DRAFT
    ) -> None:
        """Let an edition, which is created if it is not there, show a build."""
        id = self.projects[project].id
        if edition != MAIN:
            new = NewEdition(slug=edition, title=f"Edition {edition}", kind=kind, tracking_mode=TrackingMode.GIT_REF)
            await self.run(partial(editions.insert_edition, id, new))
        found = await self.app.core.database.read(partial(editions.get_edition, id, edition))
        move = EditionMove(
            edition=found.id,
            expected_seq=found.publish_seq,
            build=build[0],
            artifact=build[1],
            trigger="build",
            actor="test",
            job_uid=None,
        )
        assert await self.run(partial(editions.move_edition, move)) is not None

    async def publish(
        self, files: Mapping[str, bytes], edition: str = MAIN, *, kind: EditionKind = EditionKind.DRAFT, **build: Any
    ) -> str:
        """Build and show. Returns the id of the build."""
        added = await self.add_build(files, **build)
        await self.show(added, edition, kind=kind, project=build.get("project", "guide"))
        self.clock.pass_time()
        return added[0]

    async def get(self, path: str, host: str = "", **headers: str) -> httpx.Response:
        """`path` is sent as it is written."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()} | ({"Host": host} if host else {})
        return await self.http.get(path, headers={"Accept-Encoding": "identity"} | sent)

    async def send_raw(self, head: str | bytes) -> bytes:
        """Bytes that no client would send."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(head if isinstance(head, bytes) else head.encode("latin-1"))
        await writer.drain()
        answer = await reader.read()
        writer.close()
        return answer

    async def get_raw(self, target: str | bytes, host: str = "127.0.0.1") -> tuple[int, bytes]:
        target = target if isinstance(target, bytes) else target.encode()
        head = b"GET " + target + b" HTTP/1.1\r\nHost: " + host.encode() + b"\r\nConnection: close\r\n\r\n"
        answer = await self.send_raw(head)
        return int(answer.split(b" ", 2)[1]), answer


@asynccontextmanager
async def edge_stage(database: str, *, settings: DocsSettings | None = None, **options: Any) -> AsyncIterator[EdgeStage]:
    clock = DocsClock()
    sections = {"docs": settings or DocsSettings()}
    async with Pressroom(database, workers=None, apps=["docs"], sections=sections, **options) as press:
        app = press.app("docs")
        edge = make_edge(app.core, app.dashboards, clock)
        listener = server.listen("127.0.0.1", 0)
        port, closing = listener.getsockname()[1], asyncio.Event()
        serving = asyncio.create_task(server.run_server(edge, press.settings, listener, closing, grace=5, max_connections=100))
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as http:
                yield EdgeStage(press, edge, port, http, clock)
        finally:
            closing.set()
            await serving
            listener.close()
