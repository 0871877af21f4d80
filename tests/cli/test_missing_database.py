"""A command that looks, changes or ends something makes no database: its name was mistyped, or it is elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import address_of

LOOKING = [
    "jobs list",
    "jobs show job_01JD0000000000000000000000",
    "jobs watch job_01JD0000000000000000000000",
    "jobs cancel job_01JD0000000000000000000000",
    "jobs retry job_01JD0000000000000000000000",
    "queue stats",
    "queue pause shout",
    "workers",
    "token list",
    "token revoke pr_1",
    "webhooks list",
    "wiki export out",
    "wiki rerender --all",
    "fsck",
    "fsck --artifacts",
]


def run(folder: Path, *argv: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    command = [sys.executable, "-m", "pressroom", *argv]
    return subprocess.run(command, cwd=folder, env=plain | environ, capture_output=True, text=True)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("command", LOOKING)
def test_whoever_looks_makes_no_database(tmp_path: Path, command: str) -> None:
    (tmp_path / "here").mkdir()

    done = run(tmp_path / "here", *command.split(), "--database", f"sqlite:///{tmp_path / 'other' / 'press.db'}")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "there is no database of ours at" in done.stderr
    assert [*tmp_path.rglob("*")] == [tmp_path / "here"]


@pytest.mark.parametrize("command", ["token create --scope admin", "migrate"])
def test_whoever_adds_something_does(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, *command.split(), "--database", f"sqlite:///{tmp_path / 'press.db'}")

    assert done.returncode == 0, done.stderr
    assert run(tmp_path, "jobs", "list", "--database", f"sqlite:///{tmp_path / 'press.db'}").returncode == 0


def test_an_empty_database_of_a_server_is_left_empty(tmp_path: Path, postgres_server: str) -> None:
    done = run(tmp_path, "jobs", "list", "--database", address_of(postgres_server, "template1"))

    assert (done.returncode, "there is no database of ours at postgresql://" in done.stderr) == (2, True)
