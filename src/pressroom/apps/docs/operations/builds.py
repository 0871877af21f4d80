"""Builds: announce one, receive its archive, start processing it, compare two."""

from collections.abc import AsyncIterable, Sequence
from typing import Any

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.domain.comparison import Comparison
from pressroom.apps.docs.model import Build
from pressroom.apps.docs.requests import BuildDraft
from pressroom.store.artifacts.artifacts import ArtifactFile


class AnnouncedBuild(msgspec.Struct, frozen=True):
    """`upload_url` is where its archive is to be PUT. None: a completed build of the ref has the same content, and is the
    answer."""

    build: Build
    upload_url: str | None


class Builds:
    """`org` and `project` are slugs, `uid` is a build's id in any spelling. Raises BuildNotFound and the like."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def announce(self, org: str, project: str, draft: BuildDraft, *, uploader: str, base_url: str) -> AnnouncedBuild:
        """Raises InvalidArgument for a ref, hash or annotation that cannot be."""
        raise NotImplementedError

    async def receive(self, uid: str, capability: str, chunks: AsyncIterable[bytes]) -> int:
        """Stream an archive to staging. Returns its size. Raises BuildNotFound for a wrong or expired capability, and
        ArchiveTooLarge."""
        raise NotImplementedError

    async def start(self, org: str, project: str, uid: str, *, actor: str) -> Build:
        """The upload is complete (`PATCH {"status": "uploaded"}`, Q19): number the build and submit `build_processing`. Called
        twice it answers the same job. Raises NotUploaded."""
        raise NotImplementedError

    async def get(self, org: str, project: str, uid: str) -> Build:
        raise NotImplementedError

    async def list(
        self, org: str, project: str, *, status: str = "", before: str = "", limit: int = 100
    ) -> tuple[Sequence[Build], int]:
        """Created last first: one page and how many there are."""
        raise NotImplementedError

    async def list_files(self, build: Build) -> Sequence[ArtifactFile]:
        """By path; empty before the inventory."""
        raise NotImplementedError

    async def list_problems(self, build: Build) -> Sequence[dict[str, Any]]:
        """Its broken links, the first ones."""
        raise NotImplementedError

    async def list_editions_showing(self, build: Build) -> Sequence[str]:
        raise NotImplementedError

    async def compare(self, org: str, project: str, before: str, after: str) -> Comparison:
        """Which files were added, removed and changed between two builds (ids) or editions (slugs)."""
        raise NotImplementedError

    async def delete(self, org: str, project: str, uid: str, *, actor: str, reason: str = "deleted by hand") -> None:
        """Into purgatory. Raises BuildInUse while an edition shows it."""
        raise NotImplementedError
