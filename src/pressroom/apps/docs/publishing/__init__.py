"""What is outside the database and follows it: a key-value store that edges read, a tree of files, the caches of a CDN.

The database says what an edition shows. A publisher brings that to where readers get it. It may be called again for the same
sequence number, late, or after a newer one: then it changes nothing.
"""

from typing import Protocol

import msgspec

from pressroom.apps.docs.model import Build, Edition, Org, Project


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """An edition shows a build since its move `seq`. `build` None: it shows nothing any more."""

    org: Org
    project: Project
    edition: Edition
    build: Build | None
    seq: int


class Publisher(Protocol):
    """Raises DependencyUnavailable when what it writes to cannot be reached: the edition's item of the job then fails."""

    async def publish(self, publication: Publication) -> None: ...

    async def publish_dashboard(self, org: Org, project: Project, files: dict[str, bytes]) -> None:
        """`__dashboard.html`, `__404.html`, `__switcher.json` and `__editions/{slug}.json` of a project."""
        ...

    async def close(self) -> None: ...
