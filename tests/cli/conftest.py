"""Commands as a person or a script would give them, in this process."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pressroom.cli.main import main
from tests.patience import be_patient

type Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture
def give(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Returns the exit code and what was printed."""

    def give_command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["pressroom", *arguments])
        try:
            code = main()
        except SystemExit as end:
            code = int(end.code or 0)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return give_command


@pytest.fixture
def give_on_database(give: Run, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """On the test's database, in its folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: give(*arguments, "--database", database)
