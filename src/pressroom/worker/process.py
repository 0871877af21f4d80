"""Identifies the process of a worker, so that another process on the same machine can see that it died."""

import os
import re
import socket
from functools import cache
from pathlib import Path


@cache
def _machine_id() -> str:
    """Host name, boot id and process namespace: within these a pid and its start name one process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return f"{socket.gethostname()}/{boot}/{namespace}"


def _start_ticks(pid: int) -> str | None:
    """The start of a process in clock ticks; a reused pid has another one. None if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()
    return None if state in ("Z", "X") else fields[18]


def host_name() -> str:
    return socket.gethostname()


def process_id() -> int:
    return os.getpid()


def process_identity() -> str:
    return f"{_machine_id()}/{os.getpid()}/{_start_ticks(os.getpid())}"


def simulated_identity(host: str, pid: int) -> str:
    """Of a worker that `pressroom demo` invents. No machine has such a boot id."""
    return f"{host}/demo/{pid}/0"


def is_simulated(process: str) -> bool:
    """True for a worker that `pressroom demo` invented: no process is behind it."""
    return re.fullmatch(r"[^/]*/demo/\d+/0", process) is not None


def is_alive(process: str) -> bool:
    """True only if the process is on this machine and runs. False for processes of other machines."""
    machine, _, started = process.rpartition("/")
    machine, _, pid = machine.rpartition("/")
    return bool(machine) and machine == _machine_id() and _start_ticks(int(pid)) == started


def is_dead(process: str) -> bool:
    """True only if the process was on this machine and is gone. False for processes of other machines."""
    machine, _, started = process.rpartition("/")
    machine, _, pid = machine.rpartition("/")
    return bool(machine) and machine == _machine_id() and _start_ticks(int(pid)) != started
