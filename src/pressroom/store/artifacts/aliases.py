"""Second names of bytes in the artifact store. Units of work over the rows of `blob_alias`.

A name is reserved here before the store is given it, attached to its artifact in the transaction that records it, and
condemned here before it is deleted there.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pressroom.errors import BlobGone
from pressroom.model import Statement, Work
from pressroom.store.artifacts.blobs import BlobName
from pressroom.store.jobs.transitions import now


class BlobAlias(NamedTuple):
    path: str
    size: int


def reserve(path: str, blob: BlobName, size: int) -> Work[None]:
    """Raises BlobGone while the same name of an earlier attempt is being deleted."""
    moment = yield from now()
    asked = {"path": path, "sha256": blob.sha256, "generation": blob.generation, "size": size, "now": moment}
    if not (yield Statement("reserve_alias", asked)):
        raise BlobGone(f"the name {path} is being deleted; it must be given again")


def attach(path: str, artifact: str) -> Work[None]:
    """The name lives as long as its artifact. One that was never reserved, by a worker of an earlier version, is not missed."""
    yield Statement("attach_alias", {"path": path, "artifact": artifact})


def condemn_unattached(grace: int, limit: int) -> Work[list[str]]:
    """Give up names that no artifact has and that were reserved `grace` milliseconds ago or earlier."""
    moment = yield from now()
    rows = yield Statement("condemn_aliases", {"now": moment, "before": moment - grace, "limit": limit})
    return [path for (path,) in rows]


def delete_rows(paths: Sequence[str]) -> Work[None]:
    """After the store has deleted these names."""
    for path in paths:
        yield Statement("delete_alias", {"path": path})


def list_attached(after: str, limit: int) -> Work[list[BlobAlias]]:
    """The next page of names that the store must have, by path."""
    return [BlobAlias(*row) for row in (yield Statement("list_aliases", {"after": after, "limit": limit}))]
