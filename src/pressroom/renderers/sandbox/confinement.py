"""Confine this process irrevocably: no network, no files except those named, no way to gain privileges.

Called once, when an engine process starts, before it reads untrusted input; child processes inherit it. The layers are
independent, and each is used if the kernel supports it. An engine process reports which are in force, and `pressroom check`
shows them.
"""

import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

_FILE_SIZE = 256 * 1024 * 1024
_OPEN_FILES = 4096

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

# Landlock's system calls have the same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_QUERY_VERSION = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_READ_RIGHTS = _EXECUTE | _READ_FILE | _READ_DIR
_RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}


def confine(reads: Iterable[str | Path], writes: Iterable[str | Path], *, file_size: int = _FILE_SIZE) -> list[str]:
    """Shut the process in and tell which layers hold: `network`, `files`, `privileges`. `file_size` limits what it writes into
    one file."""
    _set_resource_limits(file_size)
    if sys.platform != "linux":
        return []
    held = []
    if _enter_network_namespace():
        held.append("network")
    die_with_parent()  # after the namespace: some changes of credentials make the kernel forget it
    if _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        held.append("privileges")
        if _restrict_files(reads, writes):
            held.append("files")
    return held


def limit_memory(size: int) -> None:
    """Of data that this process writes. An allocation past it fails, which in Python is a MemoryError."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    size = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def die_with_parent() -> None:
    """For an engine process, and for what it starts (as `preexec_fn`): it is killed when its parent is."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def become_subreaper() -> None:
    """Become the parent of descendants whose own parent has ended, so that `process_tree` still finds them."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _set_resource_limits(file_size: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for what, limit in ((resource.RLIMIT_FSIZE, file_size), (resource.RLIMIT_NOFILE, _OPEN_FILES)):
        _, most = resource.getrlimit(what)
        lower = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(what, (lower, lower))


def _enter_network_namespace() -> bool:
    """A network namespace of its own, where not even the loopback is up. Root is mapped to the user `nobody` in it."""
    user, group = os.getuid(), os.getgid()
    inside = 65534 if user == 0 else user
    try:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
    except OSError:
        with contextlib.suppress(OSError):
            os.unshare(os.CLONE_NEWNET)
            return True
        return False
    with contextlib.suppress(OSError):  # an unmapped process works too; it only looks odd to itself
        Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
        Path("/proc/self/uid_map").write_text(f"{inside} {user} 1", encoding="utf-8")
        Path("/proc/self/gid_map").write_text(f"{65534 if group == 0 else group} {group} 1", encoding="utf-8")
    return True


def _restrict_files(reads: Iterable[str | Path], writes: Iterable[str | Path]) -> bool:
    """Landlock: everything that is not named here cannot be opened any more. It also refuses TCP, as a second wall."""
    libc = _libc()
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _QUERY_VERSION)
    if version < 1:
        return False
    rights = _RIGHTS_BY_VERSION[min(version, 5)]
    attributes = struct.pack("<Q", rights)
    if version >= 4:
        attributes += struct.pack("<Q", 0b11)  # bind and connect
    if version >= 6:
        attributes += struct.pack("<Q", 0b11)  # abstract sockets and signals to processes outside
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    try:
        for paths, wanted in ((reads, _READ_RIGHTS), (writes, rights)):
            for path in paths:
                _allow_path(libc, ruleset, path, wanted & rights)
        return bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allow_path(libc: ctypes.CDLL, ruleset: int, path: str | Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there need not be allowed
    try:
        if not os.path.isdir(path):
            rights &= _FILE_RIGHTS
        rule = struct.pack("<Qi", rights, place)
        libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(place)
