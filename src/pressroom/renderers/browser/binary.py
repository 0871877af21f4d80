"""Which Chromium draws: the one that is named in PRESSROOM_CHROMIUM, or the best one on the machine."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from pressroom.renderers import Missing

# The headless shell prints a page three to four times as fast as the full browser, in half the memory.
PROGRAM_NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
INSTALL = "apt-get install chromium-headless-shell (or set PRESSROOM_CHROMIUM)"
# Debian's commands are shell scripts that stay between us and the browser: a signal to the browser would reach the script.
BEHIND_SCRIPTS = Path("/usr/lib/chromium")


def find_chromium() -> Path | None:
    if configured := os.environ.get("PRESSROOM_CHROMIUM"):
        found = shutil.which(configured)
        return _resolve_script(Path(found)) if found else None
    for name in PROGRAM_NAMES:
        if found := shutil.which(name):
            return _resolve_script(Path(found))
    return None


def missing() -> Missing | None:
    if find_chromium():
        return None
    if configured := os.environ.get("PRESSROOM_CHROMIUM"):
        return Missing(f"PRESSROOM_CHROMIUM names {configured}, which is not a program", INSTALL)
    return Missing("no Chromium was found", INSTALL)


def version() -> str:
    binary = find_chromium()
    return _version_of(binary, binary.stat().st_mtime_ns) if binary else "chromium None"


def readable_paths() -> tuple[Path, ...]:
    """The browser's own folder, where its resources are, and /proc, where it looks after its children."""
    binary = find_chromium()
    return (binary.resolve().parent, Path("/proc")) if binary else ()


def writable_paths() -> tuple[Path, ...]:
    """Chromium's own sandbox makes user namespaces, and their maps are files in /proc.

    Never for root, not even one that a namespace maps to the user `nobody`: to the kernel it still owns /proc/sys and may
    write it (tried: core_pattern took the write). Its browser does without the sandbox of its own and is held by the engine
    process alone.
    """
    return (Path("/proc"),) if os.getuid() != 0 else ()


def chromium_environment() -> dict[str, str]:
    """What a process with an empty environment needs in order to find the same browser."""
    binary = find_chromium()
    return {"PRESSROOM_CHROMIUM": str(binary)} if binary else {}


def _resolve_script(command: Path) -> Path:
    real = BEHIND_SCRIPTS / command.name
    return real if command.parent == Path("/usr/bin") and real.is_file() else command


@cache
def _version_of(binary: Path, _changed: int) -> str:
    try:
        output = subprocess.run(  # noqa: S603
            [binary, "--version"], capture_output=True, timeout=60, check=False, encoding="utf-8", errors="replace"
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "chromium unknown"
    found = re.search(r"\d+(\.\d+)+", output)
    return f"chromium {found.group() if found else 'unknown'}"
