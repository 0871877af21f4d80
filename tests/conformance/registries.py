"""Packages from npm, PyPI and Debian, fetched once into .cache/corpora and unpacked there. None of it is ours to commit."""

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urldefrag, urljoin

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ROOT / ".cache" / "corpora"
PATIENCE = 120  # seconds


class OutOfReach(Exception):
    """The registry, or the program that asks it, is not there. Whoever wanted the corpus says so and does without."""


def npm(name: str, version: str, keep: str = "*") -> Path:
    """`keep` is a pattern for the files that are wanted: some packages carry fifty megabytes of bundles beside a page."""

    def fetch(folder: Path) -> None:
        _run(["npm", "pack", "--silent", f"{name}@{version}", "--pack-destination", str(folder)])
        (archive,) = folder.glob("*.tgz")
        _unpack(archive.read_bytes(), folder, keep)
        archive.unlink()

    return once(f"npm-{name.replace('/', '-')}-{version}", fetch)


def pypi_source(name: str, version: str, sha256: str, keep: str = "*") -> Path:
    """The source distribution, where a project keeps what its wheel leaves out. From the index that pip would ask."""

    def fetch(folder: Path) -> None:
        data = _sdist(f"{name}-{version}.tar.gz", name)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise OutOfReach(f"the index gives another {name}-{version}.tar.gz than the one that was read here")
        _unpack(data, folder, keep)

    return once(f"pypi-{name}-{version}", fetch)


def debian(name: str) -> Path:
    """As the distribution of this machine has it; its version is in the name of the folder."""
    policy = _run(["apt-cache", "policy", name])
    candidate = re.search(r"Candidate: (\S+)", policy)
    if candidate is None or candidate[1] == "(none)":
        raise OutOfReach(f"apt knows no package {name}")

    def fetch(folder: Path) -> None:
        _run(["apt-get", "download", "-qq", name], cwd=folder)
        (archive,) = folder.glob("*.deb")
        _run(["dpkg", "-x", str(archive), str(folder)])
        archive.unlink()
        for packed in list(folder.rglob("*.gz")):
            packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))

    return once(f"debian-{name}-{candidate[1].replace(':', '-')}", fetch)


def once(name: str, fetch: Callable[[Path], None]) -> Path:
    """The folder appears whole or not at all, so that one that is there needs no second look."""
    place = CORPORA / name
    if place.is_dir():
        return place
    CORPORA.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=CORPORA) as own:
        folder = Path(own) / "whole"
        folder.mkdir()
        fetch(folder)
        try:
            folder.rename(place)
        except OSError:  # another run was faster
            if not place.is_dir():
                raise
    return place


def _sdist(file: str, name: str) -> bytes:
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple"
    page = f"{index.rstrip('/')}/{name}/"
    for address in re.findall(r'href="([^"]+)"', _get(page).decode()):
        whole = urldefrag(urljoin(page, address)).url
        if whole.endswith(f"/{file}"):
            return _get(whole)
    raise OutOfReach(f"the index has no {file}")


def _get(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            data: bytes = answer.read()
            return data
    except OSError as reason:
        raise OutOfReach(f"{address} cannot be fetched: {reason}") from None


def _unpack(data: bytes, folder: Path, keep: str = "*") -> None:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        wanted = [member for member in archive if fnmatch(member.name, f"*/{keep}")]
        archive.extractall(folder, wanted, filter="data")


def _run(command: list[str], cwd: Path | None = None) -> str:
    if shutil.which(command[0]) is None:
        raise OutOfReach(f"the program {command[0]} is not installed")
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE, cwd=cwd)
    except (OSError, subprocess.SubprocessError) as reason:
        raise OutOfReach(f"{' '.join(command[:4])} failed: {reason}") from None
    return done.stdout
