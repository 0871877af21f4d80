"""What is outside the database and follows it: a key-value store that edges read, a tree of files, the caches of a CDN.

The database says what an edition shows. A publisher brings that to where readers get it. It may be called again for the same
sequence number, late, or after a newer one: then it changes nothing.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import NamedTuple, Protocol

import msgspec

from pressroom.apps.docs.model import Build, Edition, Org, Project


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """An edition shows a build since its move `seq`. `build` None: it shows nothing any more."""

    org: Org
    project: Project
    edition: Edition
    build: Build | None
    seq: int

    @property
    def site(self) -> "PublishedSite":
        return PublishedSite(self.project.slug, self.edition.slug)


class PublishedSite(NamedTuple):
    """Slugs of a project and an edition, as readers know them."""

    project: str
    edition: str

    def __str__(self) -> str:
        return f"{self.project}/{self.edition}"


class PurgedFiles(NamedTuple):
    objects: int
    bytes: int


class ShownSites(NamedTuple):
    """All that an organisation shows. `busy`: what a job that has not ended is publishing. `projects`: the slugs of those that
    are not purged."""

    publications: Sequence[Publication]
    busy: Collection[PublishedSite]
    projects: Collection[str]


type ReadShownSites = Callable[[], Awaitable[ShownSites]]
type ReadFiles = Callable[[], Awaitable[dict[str, bytes]]]


class Publisher(Protocol):
    """Raises PublisherUnavailable when what it writes to cannot be reached: the edition's item of the job then fails."""

    async def publish(self, publication: Publication) -> None: ...

    async def publish_dashboard(self, org: Org, project: Project, read_files: ReadFiles) -> None:
        """`__dashboard.html`, `__404.html`, `__switcher.json` and `__editions/{slug}.json` of a project. They are read when
        nothing else publishes those of the project, so that older ones never take the place of newer ones."""
        ...

    async def reconcile(self, org: Org, read_shown: ReadShownSites) -> Collection[PublishedSite]:
        """Repair what is published and differs from what the organisation shows; busy sites are left alone. Returns what was
        repaired.

        `read_shown` is called after what is published was read: in the other order, what is published in between would be
        taken for an error, and undone."""
        ...

    async def purge_sites(self, org: Org, sites: Collection[PublishedSite]) -> None:
        """Caches are to forget these sites. For those that keep copies."""
        ...

    async def delete_expired(self, org: Org, now: int) -> PurgedFiles:
        """Delete what was moved to purgatory and whose retention is over."""
        ...

    async def close(self) -> None: ...
