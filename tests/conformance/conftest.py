"""A corpus that cannot be fetched is a skipped test that says so, never a passed one."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from pressroom.errors import PressroomError
from pressroom.renderers import catalogue
from pressroom.renderers.node import install as node_install
from tests.conformance.registries import ROOT, OutOfReach


@pytest.fixture
def _nothing_leaves_the_machine() -> None:
    """Corpora are fetched from package registries."""


@pytest.fixture
def fetched() -> Callable[..., Any]:
    def fetch[T](corpus: Callable[[], T]) -> T:
        try:
            return corpus()
        except OutOfReach as reason:
            pytest.skip(f"the corpus is out of reach: {reason}")

    return fetch


@pytest.fixture
def engine_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Skip where an engine cannot work. The packages for Node and the browser are installed if they can be."""
    monkeypatch.setenv("PRESSROOM_ENGINES", os.environ.get("PRESSROOM_ENGINES", str(ROOT / ".cache" / "engines")))

    def want(name: str) -> None:
        if catalogue.get_engine(name).missing() and "browser" in name:
            try:
                node_install.install()
            except (OSError, PressroomError) as reason:
                pytest.skip(f"the packages of {name} cannot be installed: {reason}")
        missing = catalogue.get_engine(name).missing()
        if missing:
            pytest.skip(f"{name} cannot work here: {missing.what}")

    return want
