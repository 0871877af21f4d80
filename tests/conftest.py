"""Fixtures that every test may use."""

import asyncio
import contextlib
import errno
import inspect
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pressroom import failpoints
from tests import depth, postgres

os.environ["AWS_EC2_METADATA_DISABLED"] = "true"  # no test looks for credentials outside this machine

pytest_plugins = ["tests.renderers.node_fixtures", "tests.security.render_fixtures"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--deep", action="store_true", help="the deep suite: every test, database and delivery, and many generated cases"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sampled(n): one case in n in the quick suite")
    config.addinivalue_line("markers", "deep: only in the deep suite (./dev test --deep), or when the test is named")
    if config.getoption("--deep"):
        os.environ[depth.VARIABLE] = "deep"  # test modules ask for it when they are imported, and so do their processes


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the quick suite does not run, unless tests are named one by one."""
    if depth.is_deep() or all("::" in argument for argument in config.args):
        return
    left_out = depth.left_to_the_deep_suite(items)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run coroutine tests on a loop of their own. Twelve lines instead of a plug-in."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True


@pytest.fixture(scope="session")
def _postgres() -> Iterator[postgres.Standing]:
    with contextlib.closing(postgres.Standing()) as server:
        yield server


@pytest.fixture
def postgres_server(_postgres: postgres.Standing) -> str:
    """Started when the first test asks for it, stopped after the last, and started anew if a test killed it with all others."""
    return _postgres.address()


@pytest.fixture
def file(tmp_path: Path) -> str:
    """The address of a database file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'press.db'}"


@pytest.fixture
def on_server(postgres_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a new database on a PostgreSQL server."""
    monkeypatch.chdir(tmp_path)  # where its artifacts are, unless a setting names another folder
    with postgres.database_on(postgres_server) as address:
        yield address


@pytest.fixture(params=["file", "on_server"])
def database(request: pytest.FixtureRequest) -> str:
    """The address of a new database: the test is made on SQLite and on PostgreSQL."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture(autouse=True)
def _nothing_leaves_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests name public addresses (`https://8.8.8.8/hooks`), which rules accept; a connection to one is refused here."""
    connect = socket.socket.connect

    def connect_to_this_machine(self: socket.socket, address: Any) -> None:
        is_network = self.family in (socket.AF_INET, socket.AF_INET6) and address[0] != "localhost"
        if is_network and ipaddress.ip_address(address[0]).is_global:
            raise OSError(errno.ENETUNREACH, "tests reach nothing outside this machine")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_to_this_machine)


@pytest.fixture(autouse=True)
def _disarm_failpoints() -> Any:
    yield
    failpoints.disarm()


@pytest.fixture
def eventually() -> Callable[..., Any]:
    """Wait for a condition, not for a second."""

    async def wait(condition: Callable[[], Any], within: float = 60.0) -> Any:
        deadline = asyncio.get_running_loop().time() + within
        while True:
            value = condition()
            if inspect.isawaitable(value):
                value = await value
            if value:
                return value
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"did not become true within {within} s")
            await asyncio.sleep(0.005)

    return wait
