"""Find editions whose branch or tag is gone (Q30)."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.errors import ProjectNotFound
from pressroom.apps.docs.git.addresses import repository_name
from pressroom.apps.docs.git.refs import short_name
from pressroom.apps.docs.git.remote import GitRemote, RepositoryUnreachable
from pressroom.apps.docs.model import Project
from pressroom.apps.docs.processing.edition_publishing import EditionPublishing, find_place
from pressroom.apps.docs.store import editions as edition_rows
from pressroom.apps.docs.store import refs as store
from pressroom.apps.docs.store.refs import RefAudit
from pressroom.definitions import Backoff, Kind
from pressroom.model import Submitted
from pressroom.queue import Queue
from pressroom.store import Transaction
from pressroom.worker.context import RunningJob

log = logging.getLogger("pressroom.docs")

KIND = "docs.git_ref_audit"
AT_ONCE = 8  # projects


class AuditOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Without a repository, all projects that name one. It is named as `repository_name` does."""

    repository: str = ""


async def submit_audit(queue: Queue, repository: str, *, within: Transaction | None = None) -> Submitted:
    """Of the projects of one repository."""
    order = AuditOrder(repository=repository)
    key = f"docs:refs:{repository}"[:200]
    return await queue.submit(KIND, msgspec.to_builtins(order), key=key, subject=f"refs of {repository}"[:200], within=within)


class GitRefAudit:
    """The refs of each repository are read once. A project that fails leaves the others alone, and loses nothing."""

    def __init__(self, core: Core, publishing: EditionPublishing, remote: GitRemote) -> None:
        self._core = core
        self._publishing = publishing
        self._remote = remote
        self.kind = Kind(
            KIND,
            self._run,
            max_attempts=2,
            backoff=Backoff(base=60, cap=60),
            timeout=3600,
            retention=timedelta(seconds=core.app_settings.job_retention),
            pool="outbound",
        )

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        order = msgspec.convert(payload, AuditOrder)
        projects = await self._core.database.read(store.list_projects_with_git)
        if order.repository:
            projects = [project for project in projects if repository_name(project.git_url) == order.repository]
        if not projects:
            return {"projects": 0}
        await job.items("projects", [_name(project) for project in projects])
        answers = {url: asyncio.ensure_future(self._live_refs(url)) for url in {project.git_url for project in projects}}
        room = asyncio.Semaphore(AT_ONCE)

        async def audit(project: Project) -> RefAudit:
            async with job.item(_name(project)):
                live_refs = await asyncio.shield(answers[project.git_url])
                async with room:
                    return await self._audit(job, project, live_refs)

        try:
            ended = await asyncio.gather(*map(audit, projects), return_exceptions=True)
        finally:
            await _end(answers.values())
        if fatal := next((one for one in ended if isinstance(one, BaseException) and not isinstance(one, Exception)), None):
            raise fatal
        return _summary([one for one in ended if isinstance(one, RefAudit)], len(projects))

    async def _live_refs(self, git_url: str) -> frozenset[str]:
        refs = await self._remote.list_refs(git_url)
        if not await self._core.database.run(partial(store.note_answer, git_url, len(refs)), name="docs.refs"):
            raise RepositoryUnreachable("the repository says that it has no refs at all; that is believed if it says so again")
        return frozenset(map(short_name, refs))

    async def _audit(self, job: RunningJob, project: Project, live_refs: frozenset[str]) -> RefAudit:
        try:
            audit = await job.write(partial(store.audit_project, project.id, project.git_url, live_refs))
        except ProjectNotFound:  # deleted meanwhile
            return RefAudit(flagged=[], found_again=[], deleted=[], stale=False)
        for one in audit.deleted:
            log.info("edition %s of %s deleted: %s", one.slug, _name(project), one.reason)
        database = self._core.database
        for edition in await database.read(partial(edition_rows.list_unpublished, project.id)) if audit.deleted else ():
            await self._publishing.publish_again(database, edition)
        if audit.stale:
            await self._publishing.render_dashboard(await database.read(partial(find_place, project.id)))
        return audit


def _name(project: Project) -> str:
    return f"{project.org}/{project.slug}"


def _summary(audits: Sequence[RefAudit], projects: int) -> dict[str, Any]:
    named = {
        "flagged": [one for audit in audits for one in audit.flagged],
        "found_again": [one for audit in audits for one in audit.found_again],
        "deleted": [one for audit in audits for one in audit.deleted],
    }
    return {"projects": projects, **{name: msgspec.to_builtins(found[:100]) for name, found in named.items()}}


async def _end(futures: Iterable[asyncio.Future[Any]]) -> None:
    """Those that are not needed any more; their errors were told by the items."""
    pending = list(futures)
    for future in pending:
        future.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
