"""Engines under the restrictions of compose.yaml, put up by hand because there is no container engine."""

import ctypes.util
import json
import os
import subprocess
import sys

import pytest

from tests.deploy import files

needs_walls = pytest.mark.skipif(
    os.geteuid() != 0 or ctypes.util.find_library("seccomp") is None, reason="these walls need root and libseccomp"
)


def within_walls(*command: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    return subprocess.run(
        [sys.executable, "-m", "tests.deploy.walls", *command],
        cwd=files.ROOT,
        env=kept | {"PYTHONDONTWRITEBYTECODE": "1", "PRESSROOM_HOME": "/tmp"},
        capture_output=True,
        text=True,
    )


@needs_walls
def test_the_walls_are_walls() -> None:
    tries = "id -u; cp /bin/true /tmp/true && ! /tmp/true && ! touch /etc/anything && ! mount -t tmpfs none /mnt && echo held"

    assert within_walls("/bin/sh", "-c", tries).stdout.split() == ["10001", "held"]


@pytest.mark.deep
@needs_walls
def test_every_engine_renders_and_is_shut_in_as_ever() -> None:
    """The box needs namespaces of its own, which the usual profile of container engines refuses and ours allows."""
    done = within_walls(sys.executable, "-m", "pressroom", "check", "--json")

    engines = json.loads(done.stdout)["engines"]
    ready = {one["name"]: {*one["walls"]} for one in engines if one["state"] != "absent"}
    assert done.returncode == 0, done.stderr
    assert {"markdown", "graphviz", "d2", "mermaid"} <= {*ready}
    assert {name: walls for name, walls in ready.items() if walls != {"network", "files", "privileges"}} == {}
