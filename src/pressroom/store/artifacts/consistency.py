"""Do the rows about artifacts agree with each other? And which bytes should there be? Reads only."""

from typing import NamedTuple

from pressroom.model import Statement, Work
from pressroom.store.artifacts.blobs import BlobName


class ArtifactProblem(NamedTuple):
    """Something that should not be. `what` is one word for it, `subject` the row or the bytes, `detail` for people."""

    what: str
    subject: str
    detail: str


def find_inconsistent_artifacts() -> Work[list[ArtifactProblem]]:
    rows = yield Statement("find_unsound_artifacts")
    return [ArtifactProblem(*row) for row in rows]


class PromisedBlob(NamedTuple):
    """Bytes that artifacts rely on."""

    blob: BlobName
    size: int


def list_promised(after: str, limit: int) -> Work[tuple[list[PromisedBlob], str | None]]:
    """The next page of live blobs, and where the one after it begins. None: it was the last."""
    rows = yield Statement("list_blobs", {"after": after, "limit": limit})
    promised = [PromisedBlob(BlobName(sha256, generation), size) for sha256, generation, size, state in rows if state == "live"]
    return promised, rows[-1][0] if len(rows) == limit else None
