"""Fixtures of these tests: no callback may hold the event loop, and a busy machine has time."""

import pytest

from tests.cli.conftest import give
from tests.loop_guard import _no_callback_holds_the_loop
from tests.patience import be_patient

__all__ = ["_no_callback_holds_the_loop", "give"]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)
