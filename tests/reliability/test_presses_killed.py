"""Engine processes, Node and Chromium die at any moment; the queue goes on, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressroom.renderers import catalogue
from pressroom.renderers.node import install as node_install
from pressroom.renderers.node import installation as node_places
from pressroom.renderers.sandbox.process_tree import FOLDER_PREFIX, remove_stale_folders
from tests.depth import by_depth
from tests.reliability import hasty
from tests.reliability.press_nemesis import remains_of, torment

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".cache" / "engines"
RENDERS = int(os.environ.get("PRESSROOM_KILLED_RENDERS", "300"))
SEED = 20261116

pytestmark = pytest.mark.skipif(not Path("/proc/self/ns/net").exists(), reason="processes are found by Linux's /proc")


@pytest.fixture(autouse=True, scope="module")
def _engines() -> None:
    os.environ.setdefault("PRESSROOM_ENGINES", str(KEPT))
    if node_places.find_node() is not None:
        node_install.install()


@pytest.mark.deep
async def test_renders_settle_while_those_who_render_are_killed_and_stopped(tmp_path: Path) -> None:
    toll = await torment(tmp_path, RENDERS, SEED)

    assert not toll.objections(), toll.figures()


def test_the_engines_of_the_lab_have_less_time() -> None:
    """The lab replaces a function of the catalogue by its name, which a rename had changed."""
    with hasty.catalogue_of_hasty_engines():
        assert {engine.limits.seconds for engine in catalogue.engines()} == {hasty.SECONDS}

    assert catalogue.get_engine("svg").limits.seconds != hasty.SECONDS


def wait_until_gone(pid: int, within: float) -> list[str]:
    deadline = time.monotonic() + within
    while (left := remains_of(pid)[0]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


@pytest.fixture
def own_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Engines of other test processes sweep the shared one."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:  # short: browsers put sockets below it
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield folder


def test_when_the_whole_process_is_killed_its_presses_die_and_the_next_start_sweeps(own_temporary_folder: str) -> None:
    usable = [engine.name for engine in catalogue.engines() if engine.missing() is None][:: by_depth(4, 1)]
    argv = [sys.executable, "-m", "tests.reliability.press_victim", *usable]
    environ = os.environ | {"TMPDIR": own_temporary_folder}
    with subprocess.Popen(argv, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "busy\n"
        processes, folders = remains_of(victim.pid)
        assert len(processes) > len(usable)  # one press for each engine at least, and what some of them started
        assert len(folders) >= len(usable)

        victim.send_signal(signal.SIGKILL)
        victim.wait()

        # A second is what the kernel needs on an idle machine; this one may be busy.
        assert wait_until_gone(victim.pid, 5.0) == []
    assert remove_stale_folders() >= len(usable)
    assert not list(Path(own_temporary_folder).glob(f"{FOLDER_PREFIX}{victim.pid}-*"))
