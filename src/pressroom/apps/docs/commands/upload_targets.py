"""Where a site is uploaded to: a database of this machine (local_upload.py), or a service (remote_upload.py)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import IO, TYPE_CHECKING, Any, Protocol

import msgspec

from pressroom.apps.docs.commands.job_progress import EndedJob, JobEvent
from pressroom.apps.docs.requests import BuildDraft

if TYPE_CHECKING:
    from pressroom.apps.docs.commands.upload_plan import UploadPlan

PIECE = 256 * 1024


class Upload(msgspec.Struct, frozen=True):
    """A build that was announced. `upload_url` None: one with the same content is there already."""

    build: Mapping[str, Any]
    upload_url: str | None

    @property
    def id(self) -> str:
        return str(self.build["id"])


class UploadTarget(Protocol):
    """Of one project."""

    async def create_project(self) -> None:
        """With its organisation, where they are missing."""

    async def plan(self, draft: BuildDraft) -> "UploadPlan": ...

    async def announce(self, draft: BuildDraft) -> Upload: ...

    async def send(self, upload: Upload, archive: IO[bytes], size: int) -> None: ...

    async def start(self, upload: Upload) -> str:
        """Returns the job: its id, or its address."""

    def events(self, job: str) -> AsyncGenerator[JobEvent]:
        """From the first to the last, as they happen."""

    async def read_end(self, job: str) -> EndedJob:
        """After its last event."""

    async def read_build(self, upload: Upload) -> Mapping[str, Any]:
        """As it is now, with `editions`: `{slug, published_url}` of those that show it."""


async def read_archive(archive: IO[bytes]) -> AsyncIterator[bytes]:
    """From its begin."""
    archive.seek(0)
    while piece := await asyncio.to_thread(archive.read, PIECE):
        yield piece
