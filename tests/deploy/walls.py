"""`python -m tests.deploy.walls COMMAND…`: run it as compose.yaml has it run, without a container engine.

As an ordinary user without capabilities, on a root that cannot be written, with a /tmp of its own that nothing is executed
from, and under our seccomp profile, which libseccomp loads as container engines have it loaded. Needs root.
"""

import ctypes
import json
import os
import subprocess
import sys

from tests.deploy.files import DEPLOY, ROOT

USER = 10001
_NO_NEW_PRIVILEGES = 38
_BIND = 4096
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000


def main(command: list[str]) -> None:
    os.unshare(os.CLONE_NEWNS)
    project = os.open(ROOT, os.O_PATH)
    _mount("--make-rprivate", "/")
    _mount("-t", "tmpfs", "-o", "noexec,nosuid,nodev,size=1g,mode=1777", "tmpfs", "/tmp")
    if ROOT.is_relative_to("/tmp"):  # it is hidden now, and we still have hold of it
        ROOT.mkdir(parents=True)
        # mount(8) would follow the link to a path, and that path is empty now.
        if ctypes.CDLL(None).mount(f"/proc/self/fd/{project}".encode(), os.fsencode(ROOT), None, _BIND, None) != 0:
            raise OSError(f"{ROOT} could not be kept")
    _mount("-o", "remount,bind,ro", "/")
    _become_ordinary()
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _filter_system_calls()
    os.execv(command[0], command)  # here the capabilities go, because the user is not root


def _mount(*how: str) -> None:
    subprocess.run(["mount", *how], check=True)


def _become_ordinary() -> None:
    """Inside of a user namespace: outside we stay who we are, who may read this project."""
    user, group = os.getuid(), os.getgid()
    os.unshare(os.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{USER} {user} 1"), ("gid_map", f"{USER} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _filter_system_calls() -> None:
    profile = json.loads((DEPLOY / "seccomp.json").read_text())
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    context = library.seccomp_init(_REFUSE | profile["defaultErrnoRet"])
    for name in (name for rule in profile["syscalls"] for name in rule["names"]):
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # the others belong to another architecture, or are younger than the library
            library.seccomp_rule_add(context, _ALLOW, number, 0)
    if library.seccomp_load(context) != 0:
        raise OSError("the filter was not taken")


if __name__ == "__main__":
    main(sys.argv[1:])
