"""Every way to deliver, for one suite."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pressroom import Kind, Pressroom
from pressroom.delivery import redis
from pressroom.delivery.oban import internals
from tests.patience import be_patient
from tests.servers import valkey

_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)
    monkeypatch.setattr(redis, "LEAVE_WITHIN", 60.0)
    monkeypatch.setattr(redis, "WARN_INTERVAL", 3600.0)  # what is told once is told once however long a test takes
    monkeypatch.setattr(internals, "FINISH_WITHIN", 60.0)
    monkeypatch.setattr(internals, "STOP_WITHIN", 90.0)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with valkey(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
def lists() -> str:
    """The name of a Redis list that no other test uses."""
    return f"render_jobs_{next(_numbers)}"


@pytest.fixture(
    params=["embedded-file", "embedded-server", "redis", "oban", pytest.param("oban-schema", marks=pytest.mark.deep)]
)
def how(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """The settings of one way to deliver."""
    value = request.getfixturevalue
    settings: dict[str, Any] = {"home": str(tmp_path), "lease": 60.0, "poll_interval": 0.02}
    match request.param:
        case "embedded-file":
            return settings | {"database": value("file")}
        case "embedded-server":
            return settings | {"database": value("on_server")}
        case "redis":
            redis = {"redis_url": value("redis_server"), "render_queue": value("lists")}
            return settings | {"database": value("on_server"), "delivery": "redis"} | redis
        case "oban-schema":
            return settings | {"database": value("on_server"), "delivery": "oban", "oban_schema": "jobs_of_oban"}
        case _:
            return settings | {"database": value("on_server"), "delivery": "oban"}


type Open = Callable[..., Pressroom]


@pytest.fixture
def open_press(how: dict[str, Any]) -> Open:
    def open(*kinds: Kind, workers: int | None = 2, **options: Any) -> Pressroom:
        return Pressroom(kinds=kinds, workers=workers, **how | options)

    return open
