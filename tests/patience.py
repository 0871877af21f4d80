"""Time limits of Pressroom that a test is not about, raised beyond any stall of a busy machine."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from pressroom.api import readiness, waiting
from pressroom.apps.diagrams import terminal
from pressroom.apps.diagrams.kroki import routes as kroki
from pressroom.apps.diagrams.named import embeds
from pressroom.apps.diagrams.playground import comparison_sides
from pressroom.apps.diagrams.playground import routes as playground
from pressroom.apps.wiki import views
from pressroom.config import Settings
from pressroom.store.engine import postgres, postgres_connection, postgres_health, postgres_migrate, sqlite_connection, writer
from pressroom.worker import lease

LEASE = 60.0  # seconds, where no test names another


def limits() -> Iterator[tuple[Any, str, float]]:
    """Module, name and value. The order of the first ones among each other is what tests/chaos/test_found.py asks for."""
    yield sqlite_connection, "BUSY_TIMEOUT", 120.0
    yield postgres_connection, "IDLE_TIMEOUT", 60.0
    yield postgres_connection, "BUSY_TIMEOUT", 120.0
    yield writer, "HOLD_LIMIT", 120.0
    yield postgres_connection, "HELD_IDLE_TIMEOUT", 150.0
    for module in (postgres, postgres_health, postgres_connection, postgres_migrate):
        yield module, "CONNECT_TIMEOUT", 120
    yield lease, "RENEWALS_PER_LEASE", 20  # as many in a second as with the usual lease
    yield readiness, "LONGEST", 60.0
    yield waiting, "SYNC_WAIT", 600.0
    yield terminal, "SECONDS", 600.0
    for module in (comparison_sides, embeds, kroki, playground, views):
        yield module, "PATIENCE", 600.0


def be_patient(patch: pytest.MonkeyPatch) -> None:
    """In this process."""
    for module, name, value in limits():
        patch.setattr(module, name, value)
    names = [setting.name for setting in fields(Settings)]
    defaults = dict(zip(names, Settings.__init__.__defaults__, strict=True)) | {"lease": LEASE}  # type: ignore[misc,arg-type]
    patch.setattr(Settings.__init__, "__defaults__", tuple(defaults.values()))
