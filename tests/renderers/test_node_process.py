"""The Node process of an engine: it is found, it may crash, and it never outlives the press."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pressroom.errors import EngineCrashed, Unusable
from pressroom.renderers.node import install as node_install
from pressroom.renderers.node import installation as node_places
from pressroom.renderers.node.engine import NodeEngine
from pressroom.renderers.node.engines import Bytefield, Nomnoml
from tests.renderers.node_parts import needs_node

pytestmark = [needs_node, pytest.mark.usefixtures("node_packages")]

LONG = "(doseq [n (range 100000)] (draw-box n))"  # half a minute


@pytest.fixture
def opened() -> Iterator[Callable[[type[NodeEngine]], NodeEngine]]:
    """Engines that are warm, and closed however the test ends."""
    with ExitStack() as stack:

        def open(kind: type[NodeEngine]) -> NodeEngine:
            engine = kind()
            stack.callback(engine.close)
            engine.render(engine.sample, "svg", engine.Options())
            return engine

        yield open


type Opened = Callable[[type[NodeEngine]], NodeEngine]


def pid_of(engine: NodeEngine) -> int:
    assert engine._sidecar
    return engine._sidecar.pid


def becomes_true(condition: Callable[[], bool], within: float = 60.0) -> bool:
    deadline = time.monotonic() + within
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_node_that_dies_between_two_sources_is_told_and_replaced(opened: Opened) -> None:
    engine = opened(Nomnoml)
    before = engine.render("[a]", "svg", engine.Options())
    os.kill(pid_of(engine), signal.SIGKILL)

    with pytest.raises(EngineCrashed, match="node ended with -9"):
        engine.render("[a]", "svg", engine.Options())
    after = engine.render("[a]", "svg", engine.Options())

    assert after.data == before.data


def test_a_node_that_dies_over_a_source_is_told_and_replaced(opened: Opened) -> None:
    engine = opened(Bytefield)
    node = pid_of(engine)
    threading.Timer(0.3, os.kill, (node, signal.SIGKILL)).start()

    with pytest.raises(EngineCrashed, match="node ended with -9"):
        engine.render(LONG, "svg", engine.Options())

    assert not is_running(node)
    assert engine.render(engine.sample, "svg", engine.Options()).data


def test_close_leaves_no_process(opened: Opened) -> None:
    engine = opened(Bytefield)
    node = pid_of(engine)

    engine.close()

    assert not is_running(node)


@pytest.mark.parametrize("source", [Bytefield.sample, LONG], ids=["idle", "busy"])
def test_a_killed_press_takes_its_node_along_even_when_that_is_busy(source: str) -> None:
    """A busy Node does not notice that its input has ended."""
    script = (
        "import sys, time\nfrom pressroom.renderers.node.engines import Bytefield\nengine = Bytefield()\n"
        "engine.render(engine.sample, 'svg', engine.Options())\nprint(engine._sidecar.pid, flush=True)\n"
        "engine.render(sys.argv[1], 'svg', engine.Options())\ntime.sleep(600)"
    )
    press = subprocess.Popen([sys.executable, "-c", script, source], stdout=subprocess.PIPE, text=True)
    assert press.stdout
    node = int(press.stdout.readline())
    time.sleep(0.2)  # long enough to be in the middle of it
    assert is_running(node)

    press.kill()
    press.wait()
    press.stdout.close()

    assert becomes_true(lambda: not is_running(node))


def test_node_sees_nothing_of_our_environment(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_CANARY", "canary-5f1d2c")

    seen = Path(f"/proc/{pid_of(opened(Nomnoml))}/environ").read_text()

    assert "canary" not in seen


def test_node_starts_with_its_own_walls(opened: Opened) -> None:
    command = Path(f"/proc/{pid_of(opened(Nomnoml))}/cmdline").read_text().split("\0")

    assert {"--permission", "--experimental-permission"} & set(command)
    assert {"--disallow-code-generation-from-strings", "--disable-proto=delete"} <= set(command)
    assert not any(word.startswith(("--allow-fs-write", "--allow-child", "--allow-worker")) for word in command)


def test_the_chosen_node_wins_and_what_is_no_node_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    good, old = tmp_path / "good", tmp_path / "old"
    good.write_text("#!/bin/sh\necho v99.1.0\n")
    old.write_text("#!/bin/sh\necho v18.20.0\n")
    for file in (good, old):
        file.chmod(0o755)

    monkeypatch.setenv("PRESSROOM_NODE", str(good))
    assert node_places.find_node() == good
    monkeypatch.setenv("PRESSROOM_NODE", str(old))
    assert node_places.find_node() not in (None, old)


def test_installing_again_changes_nothing() -> None:
    folder = node_places.packages_folder()
    before = folder.stat().st_ino

    assert node_install.install() == folder
    assert folder.stat().st_ino == before


def test_an_installation_that_fails_leaves_what_was_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nmkdir node_modules; echo 'registry is down' >&2; exit 1\n")
    npm.chmod(0o755)
    folder = tmp_path / "engines" / "node"
    folder.mkdir(parents=True)
    (folder / "old").touch()
    monkeypatch.setenv("PRESSROOM_ENGINES", str(folder.parent))
    monkeypatch.setattr(node_install, "_npm_command", lambda: [str(npm)])

    with pytest.raises(Unusable, match="registry is down"):
        node_install.install()

    assert [path.name for path in folder.parent.iterdir()] == ["node"]
    assert [path.name for path in folder.iterdir()] == ["old"]


def test_without_npm_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    node = tmp_path / "bin" / "node"
    node.parent.mkdir()
    node.write_text("#!/bin/sh\necho v22.0.0\n")
    node.chmod(0o755)
    monkeypatch.setenv("PRESSROOM_NODE", str(node))
    monkeypatch.setenv("PRESSROOM_ENGINES", str(tmp_path / "engines"))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(Unusable, match="npm was not found"):
        node_install.install()


def test_the_lock_file_names_no_registry_and_no_package_wants_to_run_a_script() -> None:
    lock = node_install.LOCK.read_text()

    assert '"resolved"' not in lock
    assert "hasInstallScript" not in lock
    assert "registry" not in lock
