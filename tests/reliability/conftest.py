"""A stage on each database. The labs that kill everything choose theirs themselves."""

from pathlib import Path

import pytest

from tests.patience import be_patient
from tests.reliability.stage import Stage


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture
def stage(database: str, tmp_path: Path) -> Stage:
    return Stage(tmp_path, database)
