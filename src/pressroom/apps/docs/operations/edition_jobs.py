"""Jobs that move an edition, or publish what an edition shows by now (Q25)."""

from typing import Literal

import msgspec

from pressroom.apps.docs.model import Edition, Project
from pressroom.apps.docs.operations.subjects import subject_of
from pressroom.model import Submitted
from pressroom.queue import Queue
from pressroom.store import Transaction

KIND = "docs.edition_update"


class EditionOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """With `build`, the edition comes to show it. Without, what is not published yet of the edition, or of all editions of the
    project, is published: they may have been deleted or restored."""

    project: str
    edition: str | None = None
    build: str | None = None
    trigger: Literal["patch", "rollback"] = "patch"
    actor: str = ""
    pinned: bool | None = None


async def submit_move(
    queue: Queue,
    project: Project,
    edition: Edition,
    build: str,
    *,
    trigger: Literal["patch", "rollback"],
    actor: str,
    pinned: bool | None,
    within: Transaction,
) -> Submitted:
    order = EditionOrder(project=project.id, edition=edition.id, build=build, trigger=trigger, actor=actor, pinned=pinned)
    return await _submit(queue, project, order, f"docs:edition:{edition.id}", edition.slug, within)


async def submit_publish(
    queue: Queue, project: Project, edition: Edition | None, *, actor: str, within: Transaction
) -> Submitted:
    """Of one edition, or of all of a project, with the dashboard of the project."""
    order = EditionOrder(project=project.id, edition=None if edition is None else edition.id, actor=actor)
    key = f"docs:project:{project.id}" if edition is None else f"docs:edition:{edition.id}"
    return await _submit(queue, project, order, key, "its editions" if edition is None else edition.slug, within)


async def _submit(queue: Queue, project: Project, order: EditionOrder, key: str, what: str, within: Transaction) -> Submitted:
    return await queue.submit(
        KIND,
        msgspec.to_builtins(order),
        key=key,
        org_id=project.org,
        project_id=project.id,
        build_id=order.build,
        subject=subject_of(f"{project.org}/{project.slug}: {what}"),
        within=within,
    )
