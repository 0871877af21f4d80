"""Which artifact store has the bytes of this database. Units of work over the one row of `artifact_store`."""

from typing import NamedTuple

from pressroom.model import Statement, Work
from pressroom.store.jobs.transitions import now


class RecordedStore(NamedTuple):
    """The id that is written in the artifact store, and where the store was when it was recorded, for people."""

    id: str
    location: str


def find() -> Work[RecordedStore | None]:
    rows = yield Statement("find_artifact_store")
    return RecordedStore(*rows[0]) if rows else None


def record(store: RecordedStore) -> Work[RecordedStore]:
    """Record a store unless one is recorded. Returns the one that is."""
    moment = yield from now()
    yield Statement("record_artifact_store", {"id": store.id, "location": store.location, "now": moment})
    found = yield from find()
    assert found is not None
    return found


def replace(store: RecordedStore) -> Work[None]:
    moment = yield from now()
    yield Statement("replace_artifact_store", {"id": store.id, "location": store.location, "now": moment})
