"""The operator's questions, checked: what waits, runs, conflicts, fails, who is busy, what is slow."""

import re
from datetime import timedelta

from pressroom.errors import InvalidArgument
from pressroom.store import Database
from pressroom.store.operators import overview
from pressroom.store.operators.overview import ActiveList, BacklogReport, Conflicts, ErrorRate, OverviewFilter, Throughput

PAGE_LIMIT = 200
SLOW = timedelta(minutes=10)
LONGEST = timedelta(days=3650)
CURSOR = "[0-9]{1,15}-[0-9]{1,18}"  # a start and an id


class Overview:
    """What happens in a queue, at a glance and in one read each.

    `org_id` leaves other organisations' jobs out; "" are the jobs without one, and None are all organisations'.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def backlog(self, *, org_id: str | None = None) -> BacklogReport:
        """What waits, by kind and tier."""
        return await self._database.read(lambda: overview.backlog(org_id))

    async def active(
        self, *, org_id: str | None = None, kind: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> ActiveList:
        """What every job in progress does, those that have run longest first."""
        return await self._list_active(OverviewFilter(org_id=org_id, kind=kind, after=_parse_cursor(cursor)), limit)

    async def slow(
        self,
        over: float | timedelta = SLOW,
        *,
        org_id: str | None = None,
        kind: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> ActiveList:
        """Jobs that have been in progress for longer than `over`, the slowest first."""
        return await self._list_active(
            OverviewFilter(org_id=org_id, kind=kind, over=_check_over(over), after=_parse_cursor(cursor)), limit
        )

    async def conflicts(
        self,
        project_id: str,
        *,
        noun: str | None = None,
        item: str | None = None,
        org_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Conflicts:
        """Which jobs of a project work on named items now, such as editions, and the items that more than one of them names.

        `noun` leaves out items that are called otherwise. With `item`, who updates that one now: ask before you start another
        update of it.
        """
        if not project_id:
            raise InvalidArgument("conflicts are those of one project; name it")
        chosen = OverviewFilter(
            org_id=org_id, project_id=project_id, phase=noun, has_items=True, item=item, after=_parse_cursor(cursor)
        )
        size = _check_limit(limit)
        return await self._database.read(lambda: overview.conflicts(chosen, size))

    async def error_rate(self, *, org_id: str | None = None) -> ErrorRate:
        """How many of the last hour's jobs failed or were completed with errors, by kind."""
        return await self._database.read(lambda: overview.error_rate(org_id))

    async def throughput(self, *, org_id: str | None = None, limit: int = 50) -> Throughput:
        """How many jobs of each organisation ended within the last hour, the busiest first."""
        size = _check_limit(limit)
        return await self._database.read(lambda: overview.throughput(org_id, size))

    async def _list_active(self, filter: OverviewFilter, limit: int) -> ActiveList:
        size = _check_limit(limit)
        return await self._database.read(lambda: overview.active(filter, size))


def _check_limit(limit: int) -> int:
    if not 1 <= limit <= PAGE_LIMIT:
        raise InvalidArgument(f"limit is a whole number from 1 to {PAGE_LIMIT}")
    return limit


def _check_over(over: float | timedelta) -> int:
    seconds = over.total_seconds() if isinstance(over, timedelta) else over
    if not 0 <= seconds <= LONGEST.total_seconds():  # also false for NaN
        raise InvalidArgument(f"over is 0 to {LONGEST.total_seconds():.0f} seconds")
    return int(seconds * 1000)


def _parse_cursor(cursor: str | None) -> tuple[int, int]:
    if cursor is None:
        return -1, -1
    if not re.fullmatch(CURSOR, cursor):
        raise InvalidArgument("that is not a cursor; pass the one that the last page gave")
    started, _, id = cursor.partition("-")
    return int(started), int(id)
