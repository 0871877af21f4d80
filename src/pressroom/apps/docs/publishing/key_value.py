"""Editions in Redis, for edges elsewhere: the hash `docs:{org}` has a field `{project}/{edition}` for each.

The order in which moves are made is kept in a second hash, so that a move that comes late changes nothing, also after the
edition was deleted. A script compares and writes in one step.
"""

import json
from collections.abc import Awaitable, Collection, Mapping
from contextlib import suppress
from itertools import batched
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.model import Org, Project
from pressroom.apps.docs.publishing import Publication, PublishedSite, PurgedFiles, ReadFiles, ReadShownSites
from pressroom.clock import Clock
from pressroom.model import from_ms

TIMEOUT = 10.0  # seconds
FIELDS_AT_ONCE = 1_000

# KEYS: entries, order. ARGV: field, id of the edition, seq, value. `order` has the last move of each edition under "field id",
# and under the field the id of the edition whose entry it is. Of two editions that have the same slug, one after the other, the
# one that was created later wins, unless its entry is gone. Whatever the order in which moves arrive, the last ones stay.
WRITE = """
local mine = ARGV[1] .. ' ' .. ARGV[2]
local last = redis.call('HGET', KEYS[2], mine)
if last and tonumber(last) > tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[2], mine, ARGV[3])
local old = redis.call('HGET', KEYS[1], ARGV[1])
local owner = redis.call('HGET', KEYS[2], ARGV[1])
if old and owner and owner > ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
if old then
    local is_json, was = pcall(cjson.decode, old)
    local new = cjson.decode(ARGV[4])
    if is_json and type(was) == 'table' and was.build_id == new.build_id and was.artifact == new.artifact and was.seq == new.seq
        and was.git_ref == new.git_ref and was.content_hash == new.content_hash then return 0 end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1
"""
# The same without a value.
REMOVE = """
local mine = ARGV[1] .. ' ' .. ARGV[2]
local last = redis.call('HGET', KEYS[2], mine)
if last and tonumber(last) > tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[2], mine, ARGV[3])
local owner = redis.call('HGET', KEYS[2], ARGV[1])
if owner and owner ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
"""
# For the reconciler, which has compared with the database: only if the entry is still the one that was compared. ARGV: field,
# the entry or '' for none, and id, seq and value, or '' for none.
REPAIR = """
local old = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if old ~= ARGV[2] then return 0 end
if ARGV[5] == '' then
    redis.call('HDEL', KEYS[1], ARGV[1])
    redis.call('HDEL', KEYS[2], ARGV[1])
else
    redis.call('HSET', KEYS[2], ARGV[1], ARGV[3], ARGV[1] .. ' ' .. ARGV[3], ARGV[4])
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[5])
end
return 1
"""


class RedisPublisher:
    """`secret` is the password. `prefix` begins the keys."""

    def __init__(self, url: str, clock: Clock, *, prefix: str = "docs", user: str = "", secret: str = "") -> None:
        self._client: Redis = Redis.from_url(
            url,
            username=user or None,
            password=secret or None,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
            decode_responses=True,
        )
        self._prefix = prefix
        self._clock = clock

    async def publish(self, publication: Publication) -> None:
        place = (str(publication.site), publication.edition.id, publication.seq)
        if publication.build is None:
            await self._run(REMOVE, publication.org, *place)
        else:
            await self._run(WRITE, publication.org, *place, self._value(publication))

    async def publish_dashboard(self, org: Org, project: Project, read_files: ReadFiles) -> None:
        """Edges make these from the inventories: the key-value store has no files."""

    async def reconcile(self, org: Org, read_shown: ReadShownSites) -> Collection[PublishedSite]:
        entries, ordered = await self._entries(org), await self._ordered(org)
        sites = await read_shown()
        shown = {str(publication.site): publication for publication in sites.publications}
        left_alone = {str(site) for site in sites.busy}
        repaired: list[PublishedSite] = []
        for field in sorted((entries.keys() | shown.keys()) - left_alone):
            publication, entry = shown.get(field), entries.get(field, "")
            if publication is not None and _is_same(entry, publication):
                continue
            new = ("", "", "")
            if publication is not None:
                new = (publication.edition.id, str(publication.seq), self._value(publication))
            if await self._run(REPAIR, org, field, entry, *new):
                repaired.append(PublishedSite(*field.split("/", 1)))
        await self._forget_order(org, [field for field in ordered if field.partition("/")[0] not in sites.projects])
        return repaired

    async def purge_sites(self, org: Org, sites: Collection[PublishedSite]) -> None:
        """It is no cache."""

    async def delete_expired(self, org: Org, now: int) -> PurgedFiles:  # noqa: ARG002
        return PurgedFiles(0, 0)

    async def close(self) -> None:
        with suppress(RedisError, OSError):
            await self._client.aclose()

    def _keys(self, org: Org) -> tuple[str, str]:
        """On a cluster both are on one node: braces name the part of a key that decides."""
        entries = f"{self._prefix}:{org.slug}"
        return entries, f"{{{entries}}}:order"

    def _value(self, publication: Publication) -> str:
        assert publication.build is not None
        return json.dumps(_facts(publication) | {"published_at": from_ms(self._clock.now_ms()).isoformat()})

    async def _entries(self, org: Org) -> Mapping[str, str]:
        entries: dict[str, str] = await self._answer(self._client.hgetall(self._keys(org)[0]))
        return entries

    async def _ordered(self, org: Org) -> list[str]:
        fields: list[str] = await self._answer(self._client.hkeys(self._keys(org)[1]))
        return fields

    async def _forget_order(self, org: Org, fields: list[str]) -> None:
        """Of projects that are purged: nothing of them can be published late any more."""
        for some in batched(fields, FIELDS_AT_ONCE):
            await self._answer(self._client.hdel(self._keys(org)[1], *some))

    async def _run(self, script: str, org: Org, *arguments: str | int) -> int:
        return int(await self._answer(self._client.eval(script, 2, *self._keys(org), *map(str, arguments))))

    async def _answer(self, call: Awaitable[Any] | Any) -> Any:
        try:
            return await call
        except (RedisError, OSError) as reason:
            # The text of an error may hold the address; its class says enough.
            raise PublisherUnavailable(f"the key-value store does not answer: {type(reason).__name__}") from None


def _facts(publication: Publication) -> dict[str, Any]:
    build = publication.build
    assert build is not None
    return {
        "build_id": build.uid,
        "artifact": build.artifact,
        "seq": publication.seq,
        "git_ref": build.git_ref,
        "content_hash": build.content_hash,
    }


def _is_same(entry: str, publication: Publication) -> bool:
    try:
        found = json.loads(entry)
    except ValueError:
        return False
    return isinstance(found, dict) and {**found, "published_at": None} == {**_facts(publication), "published_at": None}
