"""Jobs that process a build (Q19). Builds of one ref are processed one after the other."""

import hashlib

import msgspec

from pressroom.apps.docs.model import Build, Project
from pressroom.apps.docs.operations.subjects import subject_of
from pressroom.model import Submitted
from pressroom.queue import Queue
from pressroom.store import Transaction

KIND = "docs.build_processing"
KEY_BYTES = 400


class BuildOrder(msgspec.Struct, frozen=True, kw_only=True):
    build: str
    actor: str = ""


async def submit_processing(queue: Queue, project: Project, build: Build, *, actor: str, within: Transaction) -> Submitted:
    return await queue.submit(
        KIND,
        msgspec.to_builtins(BuildOrder(build=build.uid, actor=actor)),
        key=_key_of(build),
        org_id=project.org,
        project_id=project.id,
        build_id=build.uid,
        subject=subject_of(f"{project.org}/{project.slug}: {build.git_ref}"),
        within=within,
    )


def _key_of(build: Build) -> str:
    """A ref holds no colon. One that is too long for a key is named by its hash."""
    named = f"{build.git_ref}:{build.alternate_name or ''}"
    if len(named.encode()) > KEY_BYTES:
        named = hashlib.sha256(named.encode()).hexdigest()
    return f"docs:build:{build.project}:{named}"
