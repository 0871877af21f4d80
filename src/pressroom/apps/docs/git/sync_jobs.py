"""Jobs of the kind `docs.dashboard_sync`: what they are to do, and how they are submitted."""

import msgspec

from pressroom.apps.docs.store.templates import TemplateBinding
from pressroom.model import Submitted
from pressroom.queue import Queue
from pressroom.store import Transaction

KIND = "docs.dashboard_sync"


class SyncOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of these: `template`, fetch it and render what it concerns; `project`, render this one (an id) again; `org`, render
    what is stale, of the project in `scope` or of all its projects."""

    template: str | None = None
    project: str | None = None
    org: str | None = None
    scope: str | None = None
    actor: str = ""


async def submit_sync(queue: Queue, binding: TemplateBinding, *, actor: str, within: Transaction | None = None) -> Submitted:
    """Fetch a template. While one runs, any number of these become one more (D25)."""
    order = SyncOrder(template=binding.id, actor=actor)
    return await queue.submit(
        KIND,
        msgspec.to_builtins(order),
        key=f"docs:template:{binding.id}",
        org_id=binding.org,
        project_id=binding.project,
        subject=f"template {binding.git_url}"[:200],
        within=within,
    )


async def submit_stale(
    queue: Queue, org: str, project: str | None = None, *, actor: str, within: Transaction | None = None
) -> Submitted:
    """Render the dashboards that show an older state than their project's: of one project (its id), or of an organisation."""
    return await queue.submit(
        KIND,
        msgspec.to_builtins(SyncOrder(org=org, scope=project, actor=actor)),
        key=f"docs:dashboards:{project or org}",
        org_id=org,
        project_id=project,
        subject=f"dashboards of {org}"[:200],
        within=within,
    )
