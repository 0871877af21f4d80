from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom import Kind, Pressroom
from tests.delivery.oban.stage import Tables

ELSEWHERE = "jobs_of_oban"

# For the essential tests of each module, in the quick suite too. The deep suite runs all tests in both schemas.
in_both_schemas = pytest.mark.parametrize("schema", ["public", ELSEWHERE], indirect=True)

type Open = Callable[..., Pressroom]
type Eventually = Callable[..., Any]


@pytest.fixture(params=["public", pytest.param(ELSEWHERE, marks=pytest.mark.deep)])
def schema(request: pytest.FixtureRequest) -> str:
    """The one in which oban's tables are."""
    return str(request.param)


@pytest.fixture
def tables(on_server: str, schema: str) -> Tables:
    return Tables(on_server, schema)


@pytest.fixture
def open_press(on_server: str, tmp_path: Path, schema: str) -> Open:
    def open(*kinds: Kind, workers: int | None = 2, **options: Any) -> Pressroom:
        settings = {"database": on_server, "home": str(tmp_path), "delivery": "oban", "lease": 60.0, "poll_interval": 0.02}
        settings |= {"oban_schema": schema}
        return Pressroom(kinds=kinds, workers=workers, **settings | options)

    return open
