"""The render cache: which entry answers an input, when it was used, and which entries are kept or evicted.

Units of work over the rows of `render_cache`. An entry, its artifact and its short link expire together.
"""

import msgspec

from pressroom.model import Statement, Work
from pressroom.store.jobs.transitions import now

NOTED_EVERY = 3_600_000  # milliseconds; uses are noted no more often, so that most hits cost no commit


class Hit(msgspec.Struct, frozen=True):
    """An entry that has not expired. Times are in milliseconds; `at` is when it was found."""

    job: str
    link: str
    artifact: str
    made_at: int
    expires_at: int
    last_used: int
    at: int

    @property
    def remaining_ms(self) -> int:
        return self.expires_at - self.at


def find_hit(fingerprint: str) -> Work[Hit | None]:
    moment = yield from now()
    rows = yield Statement("find_render_hit", {"fingerprint": fingerprint, "now": moment})
    if not rows:
        return None
    job, link, artifact, made_at, expires_at, last_used = rows[0]
    return Hit(job, link, artifact, made_at, expires_at, last_used, moment)


def is_use_record_due(artifact: str) -> Work[bool]:
    """Whether a use of this artifact is to be noted. Reads only."""
    moment = yield from now()
    rows = yield Statement("find_use", {"artifact": artifact, "now": moment})
    return bool(rows) and is_last_use_old(rows[0][0], moment)


def is_last_use_old(last_used: int, moment: int) -> bool:
    return moment - last_used >= NOTED_EVERY


def record_use(artifact: str) -> Work[int | None]:
    """Note a use. Returns when the entry expires; None if it has."""
    moment = yield from now()
    rows = yield Statement("use_cached", {"artifact": artifact, "now": moment})
    return (yield from _expire_together(artifact, rows[0][0] if rows else None))


def renew_entry(artifact: str, lifetime: int) -> Work[int | None]:
    """Note a use, and let an entry live for `lifetime` milliseconds from now; a kept one for as long as it is kept."""
    moment = yield from now()
    rows = yield Statement("renew_cached", {"artifact": artifact, "lifetime": lifetime, "now": moment})
    return (yield from _expire_together(artifact, rows[0][0] if rows else None))


def keep_entry(artifact: str, ttl: int) -> Work[int | None]:
    """Keep an entry for so many milliseconds after its last use. Returns when it expires; None if it has."""
    moment = yield from now()
    asked = {"artifact": artifact, "kept_for": ttl, "expires_at": moment + ttl, "now": moment}
    rows = yield Statement("keep_cached", asked)
    return (yield from _expire_together(artifact, rows[0][0] if rows else None))


def _expire_together(artifact: str, expires_at: int | None) -> Work[int | None]:
    if expires_at is not None:
        yield Statement("renew_artifact", {"uid": artifact, "expires_at": expires_at})
        yield Statement("renew_artifact_expiry", {"uid": artifact, "expires_at": expires_at})
    return expires_at


def delete_entry(artifact: str) -> Work[None]:
    """Drop an entry whose bytes are gone, kept or not, so that its input is rendered again."""
    moment = yield from now()
    if (yield Statement("forget_cached", {"artifact": artifact})):
        yield Statement("renew_artifact", {"uid": artifact, "expires_at": moment})


def total_size() -> Work[int]:
    """The bytes of all entries but kept ones."""
    ((found,),) = yield Statement("cache_size")
    return int(found)


def evict_entries(excess: int, limit: int) -> Work[tuple[int, int]]:
    """Delete the least recently used entries until `excess` bytes are free, but no more than `limit` entries. Returns how many
    entries and bytes those were. The bytes are deleted when their jobs are pruned.
    """
    moment = yield from now()
    evicted = freed = 0
    for fingerprint, last_used, artifact, size in (yield Statement("list_least_used", {"limit": limit})):
        if freed >= excess:
            break
        if (yield Statement("evict_cached", {"fingerprint": fingerprint, "last_used": last_used})):
            yield Statement("renew_artifact", {"uid": artifact, "expires_at": moment})
            evicted += 1
            freed += size
    return evicted, freed
