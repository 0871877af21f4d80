"""Fixtures of the state machine."""

import pytest

from tests.patience import be_patient


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)
