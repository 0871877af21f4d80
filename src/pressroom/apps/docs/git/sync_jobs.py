"""Jobs of the kind `docs.dashboard_sync`: what they are to do, and how they are submitted."""

from typing import Any

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


async def submit_sync(
    queue: Queue, binding: TemplateBinding, *, actor: str, within: Transaction | None = None, **options: Any
) -> Submitted:
    """While one runs, any number of these become one more (D25)."""
    order = SyncOrder(template=binding.id, actor=actor)
    return await _submit(queue, order, f"docs:template:{binding.id}", binding, f"template {binding.git_url}", within, options)


async def submit_scope(
    queue: Queue, binding: TemplateBinding, *, actor: str, within: Transaction | None = None, **options: Any
) -> Submitted:
    """Of a binding that was deleted: render what it concerned."""
    order = SyncOrder(org=binding.org, scope=binding.project, actor=actor)
    return await _submit(
        queue, order, f"docs:dashboards:{binding.project or binding.org}", binding, "dashboards", within, options
    )


async def _submit(
    queue: Queue,
    order: SyncOrder,
    key: str,
    binding: TemplateBinding,
    subject: str,
    within: Transaction | None,
    options: dict[str, Any],
) -> Submitted:
    return await queue.submit(
        KIND,
        msgspec.to_builtins(order),
        key=key,
        org_id=binding.org,
        project_id=binding.project,
        subject=subject[:200],
        within=within,
        **options,
    )
