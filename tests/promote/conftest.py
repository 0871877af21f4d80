"""A house to move, made once and copied for each test, and the command that moves it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pressroom.cli.main import main
from tests.contract.conftest import s3_server  # noqa: F401
from tests.patience import be_patient
from tests.promote.house import furnish


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(scope="session")
def _furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    furnish(folder)
    return folder


@pytest.fixture
def home(_furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database that has been lived in, and nothing else set."""
    folder = shutil.copytree(_furnished, tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def source(home: Path) -> str:
    return f"sqlite:///{home / 'press.db'}"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


type Promote = Callable[..., Ran]


@pytest.fixture
def promote(source: str, on_server: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Promote:
    def run(*flags: str, to: str = on_server) -> Ran:
        monkeypatch.setattr(sys, "argv", ["pressroom", "promote", "--database", source, "--to", to, *flags])
        code = main()
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run


def promote_elsewhere(source: str, to: str, failpoints: str, *flags: str, **environ: str) -> subprocess.Popen[str]:
    """In a process of its own, which may be killed."""
    command = [sys.executable, "-m", "pressroom", "promote", "--database", source, "--to", to, *flags]
    around = os.environ | {"PRESSROOM_FAILPOINTS": failpoints} | environ
    return subprocess.Popen(command, env=around, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
