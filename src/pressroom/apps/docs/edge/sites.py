"""What the edge reads from the database: organisations, projects, what editions show, and the files of builds."""

import json
import math
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from pressroom.apps.docs.edge.lookups import RecentLookups
from pressroom.apps.docs.edge.places import Domains
from pressroom.apps.docs.model import MAIN, EditionKind, Org
from pressroom.apps.docs.store.editions import slug_key
from pressroom.apps.docs.store.orgs import list_orgs
from pressroom.artifacts import key_of
from pressroom.model import Statement, Work
from pressroom.store import Database

INDEX = "index.html"
LISTED = 200  # editions that a page of the edge lists
PROJECTS, EDITIONS = 4_096, 16_384  # that are remembered
FILES = 32_768  # of which is remembered where they are
_REMEMBERED_PATH = 512  # characters; a longer one is looked up each time
_ORGS_AT_ONCE = 1_000


class SiteProject(NamedTuple):
    id: str
    slug: str
    title: str
    noindex: frozenset[str]  # kinds
    dashboard: str | None
    version: int  # grows whenever an edition changes


class Shown(NamedTuple):
    """An edition and the build that it shows. Without an artifact it shows nothing yet."""

    slug: str
    title: str
    kind: EditionKind
    build: str | None
    artifact: str | None
    git_ref: str | None


class ServedBuild(NamedTuple):
    build: str
    artifact: str
    git_ref: str


class ServedFile(NamedTuple):
    sha256: str
    generation: int
    size: int
    media_type: str

    @property
    def key(self) -> str:
        return key_of(self.sha256, self.generation)


class FoundFile(NamedTuple):
    """What a build has under a path: a file, with the compressed copies that were uploaded beside it, or a folder."""

    file: ServedFile | None = None
    gzip: ServedFile | None = None
    brotli: ServedFile | None = None
    is_folder: bool = False


class Sites:
    def __init__(self, database: Callable[[], Database], clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._domains = RecentLookups(self._read_domains, most=1, clock=clock)
        self._orgs_with_project = RecentLookups(self._read_orgs_with_project, most=PROJECTS, clock=clock)
        self._projects = RecentLookups(self._read_project, most=PROJECTS, clock=clock)
        self._editions = RecentLookups(self._read_edition, most=EDITIONS, clock=clock)
        self._listed = RecentLookups(self._read_editions, most=256, clock=clock)
        self._public_projects = RecentLookups(self._read_public_projects, most=1, clock=clock)
        self._builds = RecentLookups(self._read_build, most=PROJECTS, clock=clock)
        # Of artifacts, which never change: what is found once holds for good.
        self._files = RecentLookups(self._read_file, most=FILES, fresh=math.inf)

    async def domains(self) -> Domains:
        return await self._domains.get("")

    async def only_org_with(self, project: str) -> str | None:
        """None if no organisation has this project, or more than one."""
        found = await self._orgs_with_project.get(project)
        return found[0] if len(found) == 1 else None

    async def public_projects(self) -> list[tuple[str, str, str]]:
        """Slug of the organisation, slug and title of the project; the first ones."""
        return await self._public_projects.get("")

    async def project(self, org: str, slug: str) -> SiteProject | None:
        return await self._projects.get((org, slug))

    async def edition(self, project: str, slug: str) -> Shown | None:
        return await self._editions.get((project, slug_key(slug)))

    async def main(self, project: str) -> Shown | None:
        return await self._editions.get((project, MAIN))

    async def editions(self, project: str) -> list[Shown]:
        """Those that show something, `__main` first."""
        return await self._listed.get(project)

    async def build(self, project: str, uid: str) -> ServedBuild | None:
        return await self._builds.get((project, uid))

    async def file(self, artifact: str, path: str) -> FoundFile:
        """A path that is empty or ends with a slash means the index page of that folder."""
        if len(path) > _REMEMBERED_PATH:
            return await self._read_file((artifact, path))
        return await self._files.get((artifact, path))

    async def editions_with(self, project: str, path: str) -> list[tuple[str, str]]:
        """Slug and title of the editions that have a page."""
        return await self._database().read(partial(_list_editions_with, project, path))

    async def _read_domains(self, _: str) -> Domains:
        return Domains(await self._database().read(_list_all_orgs))

    async def _read_orgs_with_project(self, slug: str) -> list[str]:
        return await self._database().read(partial(_list_orgs_with_project, slug))

    async def _read_public_projects(self, _: str) -> list[tuple[str, str, str]]:
        return await self._database().read(_list_public_projects)

    async def _read_project(self, place: tuple[str, str]) -> SiteProject | None:
        return await self._database().read(partial(_find_project, *place))

    async def _read_edition(self, place: tuple[str, str]) -> Shown | None:
        return await self._database().read(partial(_find_edition, *place))

    async def _read_editions(self, project: str) -> list[Shown]:
        return await self._database().read(partial(_list_editions, project))

    async def _read_file(self, place: tuple[str, str]) -> FoundFile:
        return await self._database().read(partial(_find_file, *place))

    async def _read_build(self, place: tuple[str, str]) -> ServedBuild | None:
        return await self._database().read(partial(_find_build, *place))


def any_org() -> Work[bool]:
    return bool((yield Statement("docs.any_org", {})))


def _list_all_orgs() -> Work[list[Org]]:
    found: list[Org] = []
    while page := (yield from list_orgs(after=found[-1].slug if found else "", limit=_ORGS_AT_ONCE)):
        found += page
        if len(page) < _ORGS_AT_ONCE:
            break
    return found


def _list_orgs_with_project(slug: str) -> Work[list[str]]:
    return [org for (org,) in (yield Statement("docs.list_orgs_with_project", {"slug": slug}))]


def _list_public_projects() -> Work[list[tuple[str, str, str]]]:
    rows = yield Statement("docs.list_public_projects", {"limit": LISTED})
    return [(org, slug, title or slug) for org, slug, title in rows]


def _find_project(org: str, slug: str) -> Work[SiteProject | None]:
    rows = yield Statement("docs.find_site_project", {"org": org, "slug": slug})
    if not rows:
        return None
    id, slug, title, noindex, dashboard, version = rows[0]
    return SiteProject(id, slug, title, frozenset(json.loads(noindex)), dashboard, version)


def _find_edition(project: str, slug_key: str) -> Work[Shown | None]:
    rows = yield Statement("docs.find_shown_edition", {"project": project, "slug_key": slug_key})
    return _shown(*rows[0]) if rows else None


def _list_editions(project: str) -> Work[list[Shown]]:
    rows = yield Statement("docs.list_shown_editions", {"project": project, "limit": LISTED})
    return [_shown(*row) for row in rows]


def _shown(slug: str, title: str, kind: str, build: str | None, artifact: str | None, git_ref: str | None) -> Shown:
    return Shown(slug, title or slug, EditionKind(kind), build, artifact, git_ref)


def _find_build(project: str, uid: str) -> Work[ServedBuild | None]:
    rows = yield Statement("docs.find_served_build", {"project": project, "uid": uid})
    return ServedBuild(*rows[0]) if rows else None


def _find_file(artifact: str, path: str) -> Work[FoundFile]:
    is_folder = path == "" or path.endswith("/")
    wanted = f"{path}{INDEX}" if is_folder else path
    names = {"path": wanted, "gzip": f"{wanted}.gz", "brotli": f"{wanted}.br", "folder_index": f"{wanted}/{INDEX}"}
    rows = yield Statement("docs.find_site_files", {"artifact": artifact, **names})
    found = {path: ServedFile(*facts) for path, *facts in rows}
    file = found.get(names["path"])
    if file is None:
        return FoundFile(is_folder=not is_folder and names["folder_index"] in found)
    return FoundFile(file, found.get(names["gzip"]), found.get(names["brotli"]))


def _list_editions_with(project: str, path: str) -> Work[list[tuple[str, str]]]:
    wanted = f"{path}{INDEX}" if path == "" or path.endswith("/") else path
    names = {"path": wanted, "folder_index": f"{wanted}/{INDEX}"}
    rows = yield Statement("docs.list_editions_with_page", {"project": project, "limit": LISTED, **names})
    return [(slug, title or slug) for slug, title in rows]
