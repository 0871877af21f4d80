"""Fixtures of the tests of hostile sources: one box of warm presses and one canary for all of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressroom.renderers.node import install as node_install
from pressroom.renderers.node import installation as node_places
from tests import starvation
from tests.security.render_box import Box, Canary

KEPT = Path(__file__).parents[2] / ".cache" / "engines"


@pytest.fixture(autouse=True, scope="session")
def _usable_time() -> Iterator[None]:
    """For every test that renders in this process."""
    with pytest.MonkeyPatch.context() as patch:
        starvation.discount(patch)
        yield


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRESSROOM_ENGINES", os.environ.get("PRESSROOM_ENGINES", str(KEPT)))
        if node_places.find_node() is not None:
            node_install.install()
        box = Box()
        yield box
        box.close()


@pytest.fixture(scope="session")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canary]:
    """One for all: a visitor who comes late is noticed by a later test."""
    canary = Canary(tmp_path_factory.mktemp("canary"))
    yield canary
    canary.close()
