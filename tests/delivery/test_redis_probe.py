"""What keeps Redis from delivering, told apart by a probe."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from pressroom.base.dependencies import MENDS, DependencyFailed
from pressroom.delivery.redis_probe import probe
from tests.delivery.redis_stage import keys_of, looking_into
from tests.servers import free_ports, valkey


@contextmanager
def server_with(tmp_path: Path, *commands: str) -> Iterator[int]:
    with valkey(tmp_path) as url:
        with redis.Redis.from_url(url) as client:
            for command in commands:
                client.execute_command(*command.split())
        yield urlsplit(url).port or 0


async def problem_of(url: str) -> str:
    with pytest.raises(DependencyFailed) as failed:
        await probe(url, "render_jobs")
    assert failed.value.problem in MENDS
    assert "s3cret" not in str(failed.value)
    assert "wr0ng" not in str(failed.value)
    return failed.value.problem


@pytest.mark.parametrize("queue", ["render_jobs", "jobs-{kind}"])
async def test_a_probe_leaves_nothing_behind(redis_server: str, lists: str, queue: str) -> None:
    assert (await probe(redis_server, lists + queue)).startswith("Redis at redis://127.0.0.1:")

    async with looking_into(redis_server) as client:
        assert await keys_of(client, lists) == set()


async def test_a_server_that_is_not_there() -> None:
    assert await problem_of(f"redis://:s3cret@127.0.0.1:{free_ports(1)[0]}/0") == "redis_unreachable"


async def test_a_password_that_is_wrong_or_missing(tmp_path: Path) -> None:
    with server_with(tmp_path, "CONFIG SET requirepass s3cret") as port:
        assert await probe(f"redis://:s3cret@127.0.0.1:{port}/0", "render_jobs")
        assert await problem_of(f"redis://:wr0ng@127.0.0.1:{port}/0") == "redis_auth_failed"
        assert await problem_of(f"redis://127.0.0.1:{port}/0") == "redis_auth_failed"


@pytest.mark.parametrize("missing", ["-blmove", "-eval", "-smembers", "resetkeys ~other*"])
async def test_a_command_or_a_key_that_the_user_may_not_use(tmp_path: Path, missing: str) -> None:
    with server_with(tmp_path, f"ACL SETUSER press on >s3cret ~* +@all {missing}") as port:
        assert await problem_of(f"redis://press:s3cret@127.0.0.1:{port}/0") == "redis_command_denied"


async def test_a_replica_and_a_full_server(tmp_path: Path) -> None:
    with server_with(tmp_path, f"REPLICAOF 127.0.0.1 {free_ports(1)[0]}") as port:
        assert await problem_of(f"redis://127.0.0.1:{port}/0") == "redis_read_only"
        with redis.Redis(port=port) as client:
            client.execute_command("REPLICAOF", "NO", "ONE")
            client.execute_command("CONFIG", "SET", "maxmemory", "1")
        assert await problem_of(f"redis://127.0.0.1:{port}/0") == "redis_full"
