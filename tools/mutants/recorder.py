"""Records which lines of the package a process executes.

It is copied into the scratch environment, where a .pth file imports it in every Python process, also in one whose environment
variables were scrubbed. `sys.monitoring` reports a line once and is then switched off for it, so recording costs little.
"""

import os
import sys
import time
from types import CodeType

_TOOL = 3  # an id of sys.monitoring that no debugger, profiler or coverage tool uses

type Lines = dict[str, int]  # lines of each file, as bits of a number


class Recorder:
    """Writes each line to a file at once, because the process may be killed; that of pytest keeps them in memory instead."""

    def __init__(self, source: str, folder: str) -> None:
        self.in_memory = False
        self._source = source
        self._folder = folder
        self._lines: set[tuple[str, int]] = set()
        self._open()
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(_TOOL, "mutants")
        sys.monitoring.register_callback(_TOOL, events.PY_START, self._on_start)
        sys.monitoring.register_callback(_TOOL, events.LINE, self._on_line)
        sys.monitoring.set_events(_TOOL, events.PY_START)
        os.register_at_fork(after_in_child=self._open)

    def _open(self) -> None:
        self.in_memory = False
        self._file = os.path.join(self._folder, f"{os.getpid()}-{time.monotonic_ns()}")
        try:
            self._fd = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            self._identity = os.fstat(self._fd)[1:3]
        except OSError:  # a process that may write nowhere is not recorded
            self._fd, self._identity = -1, (0, 0)

    def _on_start(self, code: CodeType, _: int) -> object:
        if code.co_filename.startswith(self._source):
            sys.monitoring.set_local_events(_TOOL, code, sys.monitoring.events.LINE)
        return sys.monitoring.DISABLE

    def _on_line(self, code: CodeType, line: int) -> object:
        if self.in_memory:
            self._lines.add((code.co_filename, line))
            return sys.monitoring.DISABLE
        try:
            # The program may have closed it, and its number may be that of another file by now.
            if os.fstat(self._fd)[1:3] == self._identity:
                os.write(self._fd, f"{code.co_filename[len(self._source) :]}:{line}\n".encode())
        except OSError:
            pass
        return sys.monitoring.DISABLE

    def keep_in_memory(self) -> None:
        os.close(self._fd)
        os.unlink(self._file)
        self.in_memory = True

    def restart(self) -> None:
        self._lines = set()
        sys.monitoring.restart_events()

    def lines_since_restart(self) -> Lines:
        executed, self._lines = self._lines, set()
        found: Lines = {}
        for path, line in executed:
            name = path[len(self._source) :]
            found[name] = found.get(name, 0) | 1 << line
        return found


class OtherProcesses:
    """Reads what the processes that a test started have written."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._read: dict[str, int] = {}
        self._lines: dict[str, Lines] = {}
        self.of_living: Lines = {}

    def take(self) -> Lines:
        """Lines of processes that ended since the last call. Those of one that still runs belong to all tests of the file."""
        ended: Lines = {}
        for name in os.listdir(self._folder):
            lines = self._read_more(name)
            lives = _is_alive(int(name.partition("-")[0]))
            merge(self.of_living if lives else ended, lines)
            if not lives:
                os.unlink(os.path.join(self._folder, name))
        return ended

    def _read_more(self, name: str) -> Lines:
        lines = self._lines.setdefault(name, {})
        with open(os.path.join(self._folder, name), "rb") as file:
            file.seek(self._read.get(name, 0))
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read[name] = self._read.get(name, 0) + len(whole) + len(newline)
        for path, _, line in (one.rpartition(":") for one in whole.decode().splitlines()):
            lines[path] = lines.get(path, 0) | 1 << int(line)
        return lines


def merge(into: Lines, lines: Lines) -> None:
    for path, bits in lines.items():
        into[path] = into.get(path, 0) | bits


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


recorder: Recorder | None = None


def start(source: str, folder: str) -> None:
    """Called by the .pth file, which Python may read twice."""
    global recorder
    recorder = recorder or Recorder(source, folder)
