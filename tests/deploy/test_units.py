"""The systemd units: nothing here runs systemd, but it can be asked whether it understands them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pressroom.cli.parser import make_parser
from tests.deploy import files
from tests.deploy.test_compose import STARTING_TO_STOP, grace

PROGRAM = "/opt/pressroom/bin/pressroom"
analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze on this machine")
each_unit = pytest.mark.parametrize("unit", files.UNITS, ids=lambda unit: unit.name)


@each_unit
def test_a_unit_starts_a_command_of_ours(unit: Path) -> None:
    ((program, *command),) = [files.words(line) for line in files.unit(unit)["ExecStart"]]

    assert program == PROGRAM
    make_parser().parse_args(command)


@each_unit
def test_a_unit_is_given_longer_than_the_grace_and_its_presses_are_left_alone_meanwhile(unit: Path) -> None:
    told = files.unit(unit)

    assert files.seconds(*told["TimeoutStopSec"]) >= grace() + STARTING_TO_STOP
    assert told["KillMode"] == ["mixed"]
    assert told["OOMPolicy"] == ["continue"]


@each_unit
def test_a_unit_lets_presses_shut_themselves_in(unit: Path) -> None:
    """sandbox/confinement.py, browser/launch.py: user, network and process namespaces, Landlock, seccomp; engines compile."""
    told = files.unit(unit)

    assert {*told["RestrictNamespaces"][0].split()} == {"user", "net", "pid"}
    assert "AF_NETLINK" in told["RestrictAddressFamilies"][0].split()
    assert "MemoryDenyWriteExecute" not in told
    assert "PrivateNetwork" not in told


def test_the_units_are_shut_in_alike() -> None:
    assert len({unit.read_text().partition("KillMode")[2] for unit in files.UNITS}) == 1


@analyze
@each_unit
def test_systemd_understands_a_unit(unit: Path, tmp_path: Path) -> None:
    (tmp_path / "pressroom").write_text("#!/bin/sh\n")
    (tmp_path / "pressroom").chmod(0o755)
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace(PROGRAM, str(tmp_path / "pressroom")))

    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


@analyze
@each_unit
def test_a_unit_lets_through_every_system_call_of_the_seccomp_profile(unit: Path) -> None:
    """test_walls.py renders with every engine under that profile, and so speaks for the units too."""
    (profile,) = json.loads((files.DEPLOY / "seccomp.json").read_text())["syscalls"]
    allowed: set[str] = set()
    for name in files.unit(unit)["SystemCallFilter"][0].split():
        allowed |= expanded(name)

    assert {*profile["names"]} - allowed == set()


def expanded(name: str) -> set[str]:
    if not name.startswith("@"):
        return {name}
    told = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True).stdout
    members = [line.strip() for line in told.splitlines()[1:]]
    return {call for member in members if member and not member.startswith("#") for call in expanded(member)}
