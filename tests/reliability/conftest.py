"""A stage on each database. The labs that kill everything choose theirs themselves."""

from pathlib import Path

import pytest

from tests.reliability.stage import Stage


@pytest.fixture
def stage(database: str, tmp_path: Path) -> Stage:
    return Stage(tmp_path, database)
