"""Whether Redis lets us do what delivery by Redis does: one script runs every command of it on keys of its own."""

import asyncio
from contextlib import suppress

from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    MaxConnectionsError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)

from pressroom.base.dependencies import DependencyFailed
from pressroom.config import mask_password
from pressroom.delivery.lists import make_client

ANSWER_WITHIN = 4.0  # seconds

EVERY_COMMAND = """
redis.call('SET', KEYS[1] .. ':alive:probe', '1', 'PX', 1000)
redis.call('EXISTS', KEYS[1] .. ':alive:probe')
redis.call('SADD', KEYS[1] .. ':workers', 'probe')
redis.call('EXPIRE', KEYS[1] .. ':workers', 1)
redis.call('SMEMBERS', KEYS[1] .. ':workers')
redis.call('SREM', KEYS[1] .. ':workers', 'probe')
redis.call('RPUSH', KEYS[1], 'probe')
redis.call('LPUSH', KEYS[1], 'probe')
redis.call('LLEN', KEYS[1])
redis.call('LMOVE', KEYS[1], KEYS[1] .. ':taken:probe', 'LEFT', 'RIGHT')
redis.call('BLMOVE', KEYS[1], KEYS[1] .. ':taken:probe', 'LEFT', 'RIGHT', 0.01)
redis.call('LREM', KEYS[1] .. ':taken:probe', 1, 'probe')
redis.call('DEL', KEYS[1], KEYS[1] .. ':taken:probe', KEYS[1] .. ':workers', KEYS[1] .. ':alive:probe')
"""


async def probe(url: str, queue: str) -> str:
    """`queue` is the setting `render_queue`. Raises DependencyFailed, or InvalidSettings."""
    place = mask_password(url).partition("?")[0]
    client = make_client(url, place)
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            await client.eval(EVERY_COMMAND, 1, f"{queue.replace('{kind}', 'probe')}:probe")
    except (RedisError, OSError) as error:  # TimeoutError is an OSError
        problem = _problem_of(error)
        message = "it cannot be reached" if problem == "redis_unreachable" else str(error)
        raise DependencyFailed(problem, f"Redis at {place}: {message}") from None
    finally:
        with suppress(RedisError, OSError):
            await client.aclose()
    return f"Redis at {place}"


def _problem_of(error: Exception) -> str:
    """A refusal inside of a script has another class than one of a plain command, so the text is looked at too."""
    text = str(error)
    match error:
        case AuthenticationError():
            return "redis_auth_failed"
        case NoPermissionError():
            return "redis_command_denied"
        case BusyLoadingError():
            return "redis_loading"
        case ReadOnlyError():
            return "redis_read_only"
        case OutOfMemoryError():
            return "redis_full"
        case MaxConnectionsError():
            return "redis_refused"
        case ResponseError() if "NOPERM" in text or "ACL failure" in text or "no permissions" in text:
            return "redis_command_denied"
        case ResponseError() if "READONLY" in text or "read only replica" in text:
            return "redis_read_only"
        case ResponseError() if "OOM" in text:
            return "redis_full"
        case ResponseError() if "NOAUTH" in text or "WRONGPASS" in text or "AUTH" in text:
            return "redis_auth_failed"
        case ResponseError():
            return "redis_refused"
        case _:
            return "redis_unreachable"
