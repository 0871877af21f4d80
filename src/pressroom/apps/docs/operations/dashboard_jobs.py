"""Jobs that render dashboards again without a new template: one kind with the jobs that fetch templates."""

from collections.abc import Sequence
from typing import Any

from pressroom.apps.docs.model import Project
from pressroom.apps.docs.operations.subjects import subject_of
from pressroom.model import Submitted
from pressroom.queue import Queue
from pressroom.store import Transaction
from pressroom.submission.request import Request

KIND = "docs.dashboard_sync"


async def submit(
    queue: Queue, project: Project, *, actor: str = "", within: Transaction | None = None, **options: Any
) -> Submitted:
    (submitted,) = await submit_many(queue, [project], actor=actor, within=within, **options)
    return submitted


async def submit_many(
    queue: Queue, projects: Sequence[Project], *, actor: str = "", within: Transaction | None = None, **options: Any
) -> Sequence[Submitted]:
    """For each project one job, which waits if one of it is queued already (`coalesce`)."""
    requests = [
        Request(
            KIND,
            {"project": project.id, "actor": actor},
            key=f"docs:dashboard:{project.id}",
            org_id=project.org,
            project_id=project.id,
            subject=subject_of(f"dashboard of {project.org}/{project.slug}"),
            **options,
        )
        for project in projects
    ]
    return await queue.submit_many(requests, within=within)
