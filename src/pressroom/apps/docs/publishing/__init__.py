"""What is outside the database and follows it: a key-value store that edges read, a tree of files, the caches of a CDN.

The database says what an edition shows. A publisher brings that to where readers get it. It may be called again for the same
sequence number, late, or after a newer one: then it changes nothing.
"""

from collections.abc import Collection, Sequence
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


class Publisher(Protocol):
    """Raises PublisherUnavailable when what it writes to cannot be reached: the edition's item of the job then fails."""

    async def publish(self, publication: Publication) -> None: ...

    async def publish_dashboard(self, org: Org, project: Project, files: dict[str, bytes]) -> None:
        """`__dashboard.html`, `__404.html`, `__switcher.json` and `__editions/{slug}.json` of a project."""
        ...

    async def reconcile(
        self, org: Org, expected: Sequence[Publication], busy: Collection[PublishedSite]
    ) -> Collection[PublishedSite]:
        """Repair what is published and differs from `expected`, which is all that the organisation shows. Sites that a job is
        publishing now are left alone. Returns what was repaired."""
        ...

    async def purge_sites(self, org: Org, sites: Collection[PublishedSite]) -> None:
        """Caches are to forget these sites. For those that keep copies."""
        ...

    async def delete_expired(self, org: Org, now: int) -> PurgedFiles:
        """Delete what was moved to purgatory and whose retention is over."""
        ...

    async def close(self) -> None: ...
