"""`pressroom check` imports an application's modules in a child process: they may hang, crash, print, and start others."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom.cli import import_check
from tests.cli.conftest import Run

STARTS_OTHERS = """
import os, subprocess, sys, time
from pathlib import Path

def start(**how):
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], **how).pid

pids = [os.getpid(), start(), start(start_new_session=True)]
middle = os.fork()
if middle == 0:  # a daemon: its parent ends, and it has a session of its own
    Path("daemon.pid").write_text(str(start(start_new_session=True)))
    os._exit(0)
os.waitpid(middle, 0)
Path("new.pids").write_text(" ".join(map(str, pids)) + " " + Path("daemon.pid").read_text())
os.rename("new.pids", "started.pids")
"""


@pytest.fixture
def check(give_on_database: Run, tmp_path: Path) -> Any:
    """What `check --quick` finds about these modules, by its text."""

    def find(**modules: str) -> list[dict[str, Any]]:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        _, out, _ = give_on_database("check", "--quick", "--json", "--import", ",".join(modules))
        return [finding for finding in json.loads(out)["findings"] if finding["what"] == "imports"]

    return find


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_a_module_that_hangs_is_told(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_check, "LIMIT", 0.5)

    (finding,) = check(hangs="import time\ntime.sleep(3600)\n")

    assert (finding["well"], finding["code"]) == (False, "import_failed")
    assert "'hangs' did not finish within 0.5 s" in finding["detail"]


def test_a_module_that_hangs_leaves_nothing_behind(check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = tmp_path / "started.pids"

    def time_out(*_: object) -> None:
        """Once the module has started all others, however long that takes."""
        assert wait_until(started.exists)

    monkeypatch.setattr(import_check, "_read_line", time_out)

    (finding,) = check(hangs=f"{STARTS_OTHERS}\ntime.sleep(3600)\n")

    assert "did not finish within 30 s" in finding["detail"]
    pids = [int(pid) for pid in started.read_text().split()]
    assert len(pids) == 4
    assert wait_until(lambda: not any(map(is_alive, pids)))


def test_a_module_that_can_be_imported_leaves_nothing_behind_either(check: Any, tmp_path: Path) -> None:
    (finding,) = check(starts_others=STARTS_OTHERS)

    assert finding["well"]
    pids = [int(pid) for pid in (tmp_path / "started.pids").read_text().split()]
    assert wait_until(lambda: not any(map(is_alive, pids)))


def test_what_a_module_prints_or_changes_does_not_reach_the_check(check: Any) -> None:
    (finding,) = check(prints="import os\nprint('not JSON')\nos.environ['CHANGED_BY_A_MODULE'] = '1'\nos.write(1, b'[]\\n')\n")

    assert finding["well"]
    assert "CHANGED_BY_A_MODULE" not in os.environ


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import os\nos._exit(3)\n", "'bad' ended its process while it was imported (exit code 3)"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "(signal SIGSEGV)"),
        ("import sys\nsys.exit('never mind')\n", "SystemExit: never mind (bad.py, line 2)"),
        ("1 / 0\n", "ZeroDivisionError: division by zero (bad.py, line 1)"),
    ],
)
def test_each_module_is_judged_by_itself(check: Any, text: str, told: str) -> None:
    (finding,) = check(good="", bad=text)

    assert finding["code"] == "import_failed"
    assert told in finding["detail"]
