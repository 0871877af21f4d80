"""Fixtures of the Node engines' tests: the packages are installed once, and engines are closed again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressroom.renderers.node import install as node_install
from tests.renderers.node_parts import KEPT, Bench, Canary


@pytest.fixture(scope="session")
def node_packages() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRESSROOM_ENGINES", os.environ.get("PRESSROOM_ENGINES", str(KEPT)))
        node_install.install()
        yield


@pytest.fixture(scope="session")
def node_bench(node_packages: None) -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


@pytest.fixture
def node_canary(tmp_path: Path) -> Iterator[Canary]:
    canary = Canary(tmp_path)
    yield canary
    canary.close()
