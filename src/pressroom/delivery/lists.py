"""The lists in Redis: one that all push to and take from, and beside it one for each worker, of what it has taken."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Any

from redis.asyncio import ConnectionPool
from redis.asyncio import Redis as Client
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from pressroom.errors import InvalidSettings

BLOCK = 5  # seconds that Redis holds on to us when there is no message
RESPONSE_TIMEOUT = 5.0  # seconds that any other answer may take
SILENT_AFTER = 15_000  # milliseconds without a sign of life; longer than BLOCK, so that a silent worker takes nothing any more
PUT_BACK_INTERVAL = 2_500  # milliseconds; one worker of all checks for silent workers once in this time
KEY_TTL = 86_400  # seconds after which keys that no worker uses any more expire
MAX_CONNECTIONS = 10_000  # one waits at each list, and redis-py's own limit is below sixty kinds with lists of their own
PUSH_BYTES = 1 << 20  # bytes to push at once, about

# Move up to ARGV[1] messages from one list to another, and say which.
TAKE = """
local taken = {}
for i = 1, tonumber(ARGV[1]) do
    local message = redis.call('LMOVE', KEYS[1], KEYS[2], 'LEFT', 'RIGHT')
    if not message then break end
    taken[i] = message
end
redis.call('EXPIRE', KEYS[2], ARGV[2])
return taken
"""
# Remove messages from a worker's list, each once.
REMOVE = """
for i = 1, #ARGV do redis.call('LREM', KEYS[1], 1, ARGV[i]) end
"""
# Return messages to the list by ARGV[1], unless they were put back already: then they are not ours to return.
RETURN = """
for i = 2, #ARGV do
    if redis.call('LREM', KEYS[2], 1, ARGV[i]) > 0 then redis.call(ARGV[1], KEYS[1], ARGV[i]) end
end
"""
# All that a worker had taken goes to the head of the list, where it was.
GIVE_BACK = """
local moved = 0
while redis.call('LMOVE', KEYS[2], KEYS[1], 'RIGHT', 'LEFT') do moved = moved + 1 end
return moved
"""
# The same for every worker without a sign of life. One script, so that none of them comes back to life in between.
PUT_BACK = """
local silent = {}
for _, worker in ipairs(redis.call('SMEMBERS', KEYS[1] .. ':workers')) do
    if redis.call('EXISTS', KEYS[1] .. ':alive:' .. worker) == 0 then
        local moved = 0
        while redis.call('LMOVE', KEYS[1] .. ':taken:' .. worker, KEYS[1], 'RIGHT', 'LEFT') do moved = moved + 1 end
        redis.call('SREM', KEYS[1] .. ':workers', worker)
        silent[#silent + 1] = {worker, moved}
    end
end
return silent
"""


def make_client(url: str, place: str) -> Client:
    """Does not connect yet. Raises InvalidSettings, which shows no more of the address than `place` does."""
    # A command is never sent twice: a BLMOVE whose reply was lost has moved a message all the same.
    ours = {
        "socket_connect_timeout": RESPONSE_TIMEOUT,
        "socket_timeout": BLOCK + 10,
        "decode_responses": False,
        "retry": Retry(NoBackoff(), 0),
    }
    try:
        pool = ConnectionPool.from_url(url, max_connections=MAX_CONNECTIONS)
        pool.connection_kwargs |= ours  # also over what the address says: these are not a matter of taste
        pool.make_connection()  # type: ignore[no-untyped-call]
    except (TypeError, ValueError):
        raise InvalidSettings(
            [
                f"redis_url: {place!r} is not an address that can be used; it looks like redis://:PASSWORD@HOST:6379/0, "
                "with percent signs for what is special in the password, and with no options that redis-py does not know"
            ]
        ) from None
    return Client.from_pool(pool)


class MessageLists:
    """`reached` is called whenever Redis has answered. Everything here may raise RedisError or OSError."""

    def __init__(self, client: Client, on_reply: Callable[[], None]) -> None:
        self._client = client
        self._on_reached = on_reply
        self._take = client.register_script(TAKE)
        self._remove = client.register_script(REMOVE)
        self._return = client.register_script(RETURN)
        self._give_back = client.register_script(GIVE_BACK)
        self._put_back = client.register_script(PUT_BACK)

    async def push(self, list_name: str, messages: Sequence[bytes]) -> None:
        for batch in _push_batches(messages):
            await self._await_reply(self._client.rpush(list_name, *batch))

    async def is_empty(self, list_name: str) -> bool:
        return not await self._await_reply(self._client.llen(list_name))

    async def take_first(self, list_name: str, worker: str) -> bytes | None:
        """Wait for a message, and take it. None if there was none for a while."""
        waiting = self._client.blmove(list_name, _taken_list(list_name, worker), BLOCK, "LEFT", "RIGHT")
        message: bytes | None = await self._await_reply(waiting, timeout=BLOCK + RESPONSE_TIMEOUT)
        return message

    async def take_more(self, list_name: str, worker: str, count: int) -> list[bytes]:
        messages: list[bytes] = await self._await_reply(
            self._take(keys=[list_name, _taken_list(list_name, worker)], args=[count, KEY_TTL])
        )
        return messages

    async def remove(self, list_name: str, worker: str, messages: Collection[bytes]) -> None:
        if messages:
            await self._await_reply(self._remove(keys=[_taken_list(list_name, worker)], args=list(messages)))

    async def return_to_tail(self, list_name: str, worker: str, messages: Collection[bytes]) -> None:
        """To the tail: they are for workers of other kinds, and must not block the head of the list."""
        if messages:
            await self._await_reply(self._return(keys=[list_name, _taken_list(list_name, worker)], args=["RPUSH", *messages]))

    async def return_to_head(self, list_name: str, worker: str, messages: Sequence[bytes]) -> None:
        """To the head, in the order in which they were there."""
        if messages:
            await self._await_reply(
                self._return(keys=[list_name, _taken_list(list_name, worker)], args=["LPUSH", *reversed(messages)])
            )

    async def return_all_taken(self, list_name: str, worker: str) -> int:
        return int(await self._await_reply(self._give_back(keys=[list_name, _taken_list(list_name, worker)])))

    async def heartbeat(self, list_name: str, worker: str) -> None:
        async with self._client.pipeline(transaction=False) as together:
            together.set(f"{list_name}:alive:{worker}", b"1", px=SILENT_AFTER)
            together.sadd(f"{list_name}:workers", worker)
            together.expire(f"{list_name}:workers", KEY_TTL)
            await self._await_reply(together.execute())

    async def return_silent_messages_if_due(self, list_name: str) -> list[tuple[str, int]]:
        """As `return_silent_messages`, unless a worker did so within the interval."""
        if await self._await_reply(self._client.set(f"{list_name}:looked", b"1", nx=True, px=PUT_BACK_INTERVAL)):
            return await self.return_silent_messages(list_name)
        return []

    async def return_silent_messages(self, list_name: str) -> list[tuple[str, int]]:
        """Give the messages of silent workers back to their list. Says of each how many it had."""
        silent = await self._await_reply(self._put_back(keys=[list_name]))
        return [(worker.decode(errors="replace"), moved) for worker, moved in silent]

    async def unregister_worker(self, list_name: str, worker: str) -> None:
        # Our last BLMOVE was broken off. When Redis has answered this, it has seen that too, and moves nothing more.
        await self._await_reply(self._client.delete(f"{list_name}:alive:{worker}"))
        await self.return_all_taken(list_name, worker)
        await self._await_reply(self._client.srem(f"{list_name}:workers", worker))

    async def close(self) -> None:
        await self._client.aclose()

    async def _await_reply(self, answer: Awaitable[Any], timeout: float = RESPONSE_TIMEOUT) -> Any:
        async with asyncio.timeout(timeout):
            result = await answer
        self._on_reached()
        return result


def _push_batches(messages: Sequence[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for message in messages:
        if batch and size + len(message) > PUSH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += len(message)
    if batch:
        yield batch


def _taken_list(list_name: str, worker: str) -> str:
    return f"{list_name}:taken:{worker}"
