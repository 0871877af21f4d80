from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom import Kind, Pressroom
from tests.delivery.oban.stage import Tables

type Open = Callable[..., Pressroom]
type Eventually = Callable[..., Any]


@pytest.fixture
def tables(on_server: str) -> Tables:
    return Tables(on_server)


@pytest.fixture
def open_press(on_server: str, tmp_path: Path) -> Open:
    def open(*kinds: Kind, workers: int | None = 2, **options: Any) -> Pressroom:
        settings = {"database": on_server, "home": str(tmp_path), "delivery": "oban", "lease": 60.0, "poll_interval": 0.02}
        return Pressroom(kinds=kinds, workers=workers, **settings | options)

    return open
