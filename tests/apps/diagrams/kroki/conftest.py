"""One server for all tests of this folder, and clients written by others."""

import os
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests import postgres
from tests.patience import be_patient
from tests.renderers.node_fixtures import node_packages  # noqa: F401
from tests.servers import free_ports, running

ROOT = Path(__file__).parents[4]
CLIENTS = ROOT / ".cache" / "kroki-clients"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(scope="package")
def server(node_packages: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:  # noqa: F811
    """The address of a service of its own, as a client of Kroki is given it."""
    with _serving(tmp_path_factory.mktemp("kroki")) as address:
        yield address


@contextmanager
def _serving(home: Path, **settings: str) -> Iterator[str]:
    (port,) = free_ports(1)
    settings |= {"PRESSROOM_HOME": str(home / "data"), "PRESSROOM_LISTEN": f"127.0.0.1:{port}", "PYTHONPATH": str(ROOT)}
    settings |= {"PRESSROOM_IMPORTS": "tests.patient_service", "PRESSROOM_LEASE": "60"}
    log = home / "log.txt"
    with running([sys.executable, "-m", "pressroom", "serve"], log, os.environ | settings) as process:
        deadline = time.monotonic() + 300
        while not _ready(port):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the server did not start:\n{log.read_text()}")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/kroki"


def _ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=60).is_success
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="package")
def kroki(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client


@pytest.fixture(scope="package")
def kroki_on_server(_postgres: postgres.Standing, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The same on PostgreSQL."""
    with (
        postgres.database_on(_postgres.address()) as database,
        _serving(tmp_path_factory.mktemp("kroki"), PRESSROOM_DATABASE=database) as server,
        httpx.Client(base_url=server, timeout=60) as client,
    ):
        yield client


@pytest.fixture(params=["kroki", "kroki_on_server"])
def either(request: pytest.FixtureRequest) -> httpx.Client:
    """For what is kept and found again."""
    client: httpx.Client = request.getfixturevalue(request.param)
    return client


@pytest.fixture(scope="package")
def mkdocs() -> Path:
    """The command, with mkdocs-kroki-plugin beside it."""
    folder = CLIENTS / "mkdocs"
    command = folder / "bin" / "mkdocs"
    if not (command.exists() and list(folder.glob("lib/*/site-packages/mkdocs_kroki_plugin-*"))):
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        _install([str(folder / "bin" / "pip"), "install", "-q", "mkdocs", "mkdocs-kroki-plugin"], folder)
    return command


@pytest.fixture(scope="package")
def asciidoctor() -> Path:
    """The command of Asciidoctor.js, with asciidoctor-kroki beside it."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm here")
    folder = CLIENTS / "asciidoctor"
    modules = folder / "node_modules"
    if not (modules / "asciidoctor-kroki" / "package.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        # The extension is written for Asciidoctor.js 2 and 3.
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "asciidoctor@3", "asciidoctor-kroki"]
        _install(command, folder)
    return modules / ".bin" / "asciidoctor"


def _install(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        shutil.rmtree(folder)
        pytest.skip("the registry did not answer in time")
    if done.returncode != 0:
        shutil.rmtree(folder)
        pytest.skip(f"could not be installed: {(done.stderr or done.stdout)[-500:]}")
