"""Uploaded archives that nothing will read any more: of builds that ended while no worker had them, or that are gone."""

from functools import partial
from itertools import batched

from pressroom.apps.docs.errors import BuildNotFound
from pressroom.apps.docs.model import BuildStatus
from pressroom.apps.docs.store.builds import get_build_by_uid
from pressroom.apps.docs.uploads.staging import Staging
from pressroom.model import Work
from pressroom.store import Database

KEPT = 24 * 3600.0  # seconds: until then a job that failed can be tried again by hand
AT_ONCE = 100


async def delete_leftover_uploads(database: Database, staging: Staging, older_than: float | None = None) -> int:
    """Returns how many there were."""
    deleted = 0
    for batch in batched([uid async for uid in staging.list_uids(KEPT if older_than is None else older_than)], AT_ONCE):
        for uid in await database.read(partial(_select_unused, batch)):
            await staging.delete(uid)
            deleted += 1
    return deleted


def _select_unused(uids: tuple[str, ...]) -> Work[list[str]]:
    unused = []
    for uid in uids:
        try:
            build = yield from get_build_by_uid(uid)
        except BuildNotFound:
            unused.append(uid)
            continue
        if build.status in (BuildStatus.COMPLETED, BuildStatus.FAILED) or build.date_deleted is not None:
            unused.append(uid)
    return unused
