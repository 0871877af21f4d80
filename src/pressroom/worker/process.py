"""Which process a worker is, precisely enough for a neighbour on the same machine to see that it died."""

import os
import re
import socket
from functools import cache
from pathlib import Path


@cache
def _place() -> str:
    """The machine since its last start, and the process namespace: elsewhere the same pid is another process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return f"{socket.gethostname()}/{boot}/{namespace}"


def _started(pid: int) -> str | None:
    """The process's start in clock ticks: a pid that was given again has another one. None if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()
    return None if state in ("Z", "X") else fields[18]


def host() -> str:
    return socket.gethostname()


def pid() -> int:
    return os.getpid()


def identity() -> str:
    return f"{_place()}/{os.getpid()}/{_started(os.getpid())}"


def simulated_identity(host: str, pid: int) -> str:
    """Of a worker that `pressroom demo` invents. No machine has such a boot id."""
    return f"{host}/demo/{pid}/0"


def is_simulated(process: str) -> bool:
    """True for a worker that `pressroom demo` invented: no process is behind it."""
    return re.fullmatch(r"[^/]*/demo/\d+/0", process) is not None


def is_alive(process: str) -> bool:
    """True only if the process is on this machine and runs. Of other machines we know nothing."""
    place, _, started = process.rpartition("/")
    place, _, pid = place.rpartition("/")
    return bool(place) and place == _place() and _started(int(pid)) == started


def is_dead(process: str) -> bool:
    """True only if the process was on this machine and is gone. Of other machines we know nothing."""
    place, _, started = process.rpartition("/")
    place, _, pid = place.rpartition("/")
    return bool(place) and place == _place() and _started(int(pid)) != started
