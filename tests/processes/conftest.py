"""Fixtures of the tests with several processes."""

from pathlib import Path

import pytest

from tests.patience import be_patient
from tests.processes.stage import Start, starting


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture
def start(database: str, tmp_path: Path) -> Start:
    with starting(database, tmp_path) as begin:
        yield begin


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.touch()
    return path


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """The file that lets jobs of the kind `press` end."""
    return tmp_path / "go on"
