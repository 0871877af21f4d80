"""A press with the docs app, archives as CI makes them, and the steps of an upload."""

import asyncio
import gzip
import hashlib
import io
import tarfile
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from pressroom import Pressroom
from pressroom.apps.docs.app import DocsApp
from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.model import Build, Edition, Org, Project
from pressroom.apps.docs.operations.builds import AnnouncedBuild
from pressroom.apps.docs.publishing import Publication, Publisher, ReadFiles
from pressroom.apps.docs.requests import BuildDraft, OrgDraft, ProjectDraft
from pressroom.apps.docs.settings import DocsSettings
from pressroom.definitions import Backoff
from pressroom.model import Job
from pressroom.store.artifacts import artifacts

SITE = {"index.html": b"<h1>Guide</h1>", "_static/site.css": b"h1 { color: navy }", "usage/index.html": b"<h1>Usage</h1>"}
LONG = 120.0  # seconds that a test waits for a job at most


def tar_of(files: Mapping[str, bytes], *, top: str = "") -> bytes:
    """An uncompressed archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(top + path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def archive_of(files: Mapping[str, bytes], *, top: str = "") -> bytes:
    return gzip.compress(tar_of(files, top=top), mtime=0)


def hash_of(archive: bytes) -> str:
    return f"sha256:{hashlib.sha256(archive).hexdigest()}"


async def in_chunks(data: bytes, size: int = 64 * 1024) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@dataclass
class DocsFlow:
    press: Pressroom
    app: DocsApp
    org: Org
    project: Project

    async def announce(self, archive: bytes, ref: str = "main", **fields: Any) -> AnnouncedBuild:
        draft = BuildDraft(git_ref=ref, content_hash=fields.pop("content_hash", None) or hash_of(archive), **fields)
        return await self.app.builds.announce(
            self.org.slug, self.project.slug, draft, uploader="ci", base_url="http://127.0.0.1:8000"
        )

    async def upload(self, archive: bytes, ref: str = "main", **fields: Any) -> Build:
        """Announced and received, not started."""
        announced = await self.announce(archive, ref, **fields)
        assert announced.upload_url is not None
        if capability := capability_of(announced.upload_url):
            await self.app.builds.receive(announced.build.uid, capability, in_chunks(archive))
        else:
            await asyncio.to_thread(put_in_bucket, announced.upload_url, archive)
        return announced.build

    async def start(self, build: Build) -> Build:
        return await self.app.builds.start(self.org.slug, self.project.slug, build.uid, actor="ci")

    async def submit(self, files: Mapping[str, bytes] | bytes, ref: str = "main", **fields: Any) -> Build:
        """Uploaded and started."""
        archive = files if isinstance(files, bytes) else archive_of(files)
        return await self.start(await self.upload(archive, ref, **fields))

    async def process(self, files: Mapping[str, bytes] | bytes, ref: str = "main", **fields: Any) -> tuple[Build, Job]:
        """Uploaded, started, and at its end."""
        build = await self.submit(files, ref, **fields)
        return await self.ended(build)

    async def ended(self, build: Build) -> tuple[Build, Job]:
        assert build.job_uid is not None
        job = await self.press.wait_until_ended(build.job_uid, timeout=LONG)
        return await self.build(build.uid), job

    async def build(self, uid: str) -> Build:
        return await self.app.builds.get(self.org.slug, self.project.slug, uid)

    async def edition(self, slug: str = "__main") -> Edition:
        return await self.app.editions.get(self.org.slug, self.project.slug, slug)

    async def slugs(self) -> list[str]:
        return [edition.slug for edition in await self.app.editions.list(self.org.slug, self.project.slug)]

    async def history(self, slug: str = "__main") -> list[str]:
        """Uids of builds, newest first."""
        lines = await self.app.editions.list_history(self.org.slug, self.project.slug, slug)
        return [line.entry.build for line in lines]

    async def read(self, build: Build, path: str) -> bytes:
        """A file of a build, as readers get it."""
        assert build.artifact is not None
        file = await self.app.core.database.read(partial(artifacts.file_of, build.artifact, path))
        chunks = await self.app.core.rendering.blobs.get(file.blob.sha256 + (f"-{file.generation}" if file.generation else ""))
        return b"".join([chunk async for chunk in chunks])

    async def rows(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        async with self.press.transaction() as tx:
            return await tx.execute(sql, params)


def capability_of(upload_url: str) -> str:
    """Empty for an address of a bucket."""
    return upload_url.partition("?capability=")[2]


def put_in_bucket(url: str, data: bytes) -> None:
    request = urllib.request.Request(url, data, {"Content-Type": "application/gzip"}, method="PUT")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


class PublisherDouble:
    """Something outside that keeps what is published: the highest sequence number counts, as in the real ones. It fails for
    the editions of which the test says so, and can be made to wait."""

    def __init__(self) -> None:
        self.shown: dict[str, tuple[int, str | None]] = {}
        self.calls: list[tuple[str, str | None, int]] = []
        self.dashboards: list[dict[str, bytes]] = []
        self.broken: set[str] = set()
        self.error: type[Exception] = PublisherUnavailable
        self.let_go = asyncio.Event()
        self.let_go.set()
        self.reached = asyncio.Event()

    async def publish(self, publication: Publication) -> None:
        slug, build = publication.edition.slug, publication.build and publication.build.uid
        self.reached.set()
        await self.let_go.wait()
        self.calls.append((slug, build, publication.seq))
        if slug in self.broken or "*" in self.broken:
            raise self.error("the KV does not answer")
        if publication.seq >= self.shown.get(slug, (0, None))[0]:
            self.shown[slug] = (publication.seq, build)

    async def publish_dashboard(self, org: Org, project: Project, read_files: ReadFiles) -> None:
        del org, project
        self.dashboards.append(await read_files())

    async def close(self) -> None:
        """It has no connections."""

    def use(self, flow: DocsFlow) -> Self:
        async def of(_: Org) -> list[Publisher]:
            return [self]

        flow.app.publishers.of = of  # type: ignore[method-assign]
        return self


def without_waits(press: Pressroom) -> None:
    """Attempts follow each other at once."""
    for kinds in (press.registry.kinds, press.registry.taken):
        for name, kind in kinds.items():
            if name.startswith("docs."):
                kinds[name] = replace(kind, backoff=Backoff(base=0, cap=0))


@asynccontextmanager
async def docs_flow(
    database: str, *, workers: int | None = 2, settings: DocsSettings | None = None, **options: Any
) -> AsyncIterator[DocsFlow]:
    sections = {"docs": settings or DocsSettings()}
    options = {"poll_interval": 0.05} | options
    press = Pressroom(database, workers=workers, apps=["docs"], sections=sections, **options)
    without_waits(press)
    async with press:
        app = press.app("docs")
        assert isinstance(app, DocsApp)
        listed = await app.orgs.list()
        if listed:
            org = listed[0]
            project = await app.projects.get(org.slug, "guide")
        else:
            org = await app.orgs.create(OrgDraft(slug="acme", title="Acme"))
            project = await app.projects.create(org.slug, ProjectDraft(slug="guide", title="Guide"))
        yield DocsFlow(press, app, org, project)
