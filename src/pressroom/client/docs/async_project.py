"""A project, over connections on an event loop."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from pressroom.client.docs import calls, operations
from pressroom.client.docs.calls import Archive
from pressroom.client.docs.responses import RemoteBuild, RemoteEdition, RemoteHistoryEntry, RemoteQueueJob
from pressroom.client.exchange import Exchange, HttpCall
from pressroom.client.retries import RetryPolicy
from pressroom.ids import new_uid

type RunLater = Callable[[Exchange[Any, Any]], Awaitable[Any]]
type IterateLater = Callable[[Exchange[Any, Any]], AsyncGenerator[Any]]


class AsyncProjectDocs:
    """The documentation of one project. Builds are named by their id, editions by their slug."""

    def __init__(self, org: str, project: str, run: RunLater, iterate: IterateLater, retry_policy: RetryPolicy) -> None:
        self._org, self._project = org, project
        self._run, self._iterate = run, iterate
        self._retry_policy = retry_policy

    async def upload(
        self,
        archive: Archive,
        git_ref: str,
        *,
        alternate_name: str | None = None,
        annotations: Mapping[str, Any] | None = None,
    ) -> RemoteBuild:
        """Upload a site: a tar archive, compressed by gzip, as bytes or a file. What was uploaded before is not sent again."""
        draft = {
            "git_ref": git_ref,
            "content_hash": await asyncio.to_thread(calls.hash_archive, archive),
            "alternate_name": alternate_name,
            "annotations": dict(annotations or {}),
        }
        build: RemoteBuild = await self._run(operations.upload(self._path("builds"), draft, archive, self._retry_policy))
        return build

    async def build(self, id: str | RemoteBuild) -> RemoteBuild:
        build: RemoteBuild = await self._run(
            operations.request(calls.get(self._path("builds", str(id))), RemoteBuild, self._retry_policy)
        )
        return build

    def builds(self, status: str | None = None) -> AsyncGenerator[RemoteBuild]:
        """Newest first."""
        params = {} if status is None else {"status": status}
        return self._iterate(operations.list_all(self._path("builds"), params, RemoteBuild, self._retry_policy))

    async def edition(self, slug: str) -> RemoteEdition:
        edition: RemoteEdition = await self._run(
            operations.request(calls.get(self._path("editions", slug)), RemoteEdition, self._retry_policy)
        )
        return edition

    def editions(self) -> AsyncGenerator[RemoteEdition]:
        return self._iterate(operations.list_all(self._path("editions"), {}, RemoteEdition, self._retry_policy))

    def history(self, edition: str | RemoteEdition, *, include_deleted: bool = False) -> AsyncGenerator[RemoteHistoryEntry]:
        """What an edition came to show, newest first."""
        params = {"include_deleted": str(include_deleted).lower()}
        path = self._path("editions", str(edition), "history")
        return self._iterate(operations.list_all(path, params, RemoteHistoryEntry, self._retry_policy))

    async def show(self, edition: str | RemoteEdition, build: str | RemoteBuild) -> RemoteQueueJob:
        """Make an edition show a build, whatever it tracks. Returns the job that moves it."""
        call = calls.send("PATCH", self._path("editions", str(edition)), {"build": str(build)}, repeatable=False)
        return await self._submit(call)

    async def roll_back(self, edition: str | RemoteEdition, build: str | RemoteBuild, *, pinned: bool = True) -> RemoteQueueJob:
        """Make an edition show a build that it has shown before, and stay there if `pinned`. Returns the job that moves it."""
        path = self._path("editions", str(edition), "rollback")
        return await self._submit(calls.send("POST", path, {"build": str(build), "pinned": pinned}, key=new_uid()))

    async def wait_until_ended(self, job: str | RemoteQueueJob | RemoteBuild, timeout: float | None = None) -> RemoteQueueJob:
        """The job, or that of a build, as soon as it has ended, whichever way. Raises WaitTimeout."""
        ended: RemoteQueueJob = await self._run(operations.wait_until_ended(calls.job_id_of(job), self._retry_policy, timeout))
        return ended

    async def _submit(self, call: HttpCall) -> RemoteQueueJob:
        job: RemoteQueueJob = await self._run(operations.submit(call, self._retry_policy))
        return job

    def _path(self, *parts: str) -> str:
        return calls.project_path(self._org, self._project, *parts)
