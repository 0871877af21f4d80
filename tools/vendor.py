"""Makes src/pressroom/web/static/htmx.js anew from the packages that it is made of: `python -m tools.vendor`."""

import base64
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

TARGET = Path(__file__).parent.parent / "src" / "pressroom" / "web" / "static" / "htmx.js"


class Package(NamedTuple):
    name: str
    version: str
    integrity: str
    file: str


PACKAGES = [
    Package(
        "htmx.org",
        "2.0.11",
        "sha512-Thx/WtpeOQqSrqBCw/A1cwGJGg4UrVa3+sW0GmrM3p4gJgO89ecH4qtbnyzDDWFvBTqjnIMCgELTNt636dtamA==",
        "dist/htmx.min.js",
    ),
    Package(
        "idiomorph",
        "0.8.0",
        "sha512-R47JBL+6jHDQvcnbppIUtXXcxi5h6+wuCEEZXnRhUltsgzPFKzThL5PuHppP9ypJuy+7WawcY1TsSBD/iQbMhw==",
        "dist/idiomorph-ext.min.js",
    ),
]


def heading() -> str:
    named = " and ".join(f"{package.name} {package.version} (0BSD)" for package in PACKAGES)
    return f"/* {named}, as published, one after the other. tools/vendor.py makes this file. */\n"


def fetch(package: Package, folder: Path) -> str:
    command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    archive = folder / subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
    found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != package.integrity:
        sys.exit(f"{package.name} {package.version} is not what it was: {found}")
    with tarfile.open(archive) as packed:
        file = packed.extractfile(f"package/{package.file}")
        assert file is not None
        return file.read().decode()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        texts = [fetch(package, Path(folder)) for package in PACKAGES]
    TARGET.write_text(heading() + "\n".join(texts))


if __name__ == "__main__":
    main()
