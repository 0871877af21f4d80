"""Artifacts of many files, recorded in pieces: one transaction for 50,000 files would hold the only writer of a database for
seconds.

Begin one, add its files in any number of transactions, and seal it in the one that refers to it. Until then it is kept for
a day; one that is never sealed is collected like any artifact that has expired.
"""

from collections.abc import Sequence

from pressroom.errors import BlobGone
from pressroom.ids import new_uid
from pressroom.model import Statement, Work
from pressroom.store.artifacts import artifacts, blobs
from pressroom.store.artifacts.artifacts import ArtifactFile
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

UNSEALED_KEPT = 24 * 3600 * 1000  # milliseconds


def begin_artifact(name: str, *, files: int, size: int, media_type: str, org_id: str | None = None) -> Work[str]:
    """The uid of an artifact that is to have so many files, of so many bytes together."""
    moment = yield from now()
    uid = new_uid()
    yield Statement(
        "insert_artifact",
        {
            "uid": uid,
            "name": name,
            "sha256": None,
            "files": files,
            "size": size,
            "media_type": media_type,
            "filename": None,
            "org_id": org_id or "",
            "job_uid": None,
            "now": moment,
            "expires_at": moment + UNSEALED_KEPT,
        },
    )
    return uid


def add_files(uid: str, files: Sequence[ArtifactFile]) -> Work[None]:
    """Raises BlobGone if the bytes of one were collected since they were put."""
    for part in files:
        artifacts.check_file_path(part.path)
    yield from blobs.require_all_live((part.blob, part.size) for part in files)
    rows = [(part.path, part.sha256, part.size, part.media_type) for part in files]
    yield Statement("insert_artifact_files", {"uid": uid, "files": compact(rows)})


def seal_artifact(uid: str, holder: str) -> Work[None]:
    """It has all its files, and is held from here on. Raises BlobGone if it has not, or was collected."""
    if not (yield Statement("seal_artifact", {"uid": uid})):
        raise BlobGone(f"artifact {uid} was collected before it was sealed, or lacks files; it must be recorded again")
    yield from artifacts.hold(holder, uid)
