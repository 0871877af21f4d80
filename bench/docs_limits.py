"""What a build is measured beside: its archive unpacked by tar."""

import subprocess
from pathlib import Path

from bench.docs_builds import Spent, measured


def unpack_and_sync(archive: Path, folder: Path) -> Spent:
    """`sync -f` writes what the file system of the folder holds back, as the artifact store does once for all files."""
    folder.mkdir()
    with measured() as spent:
        subprocess.run(["tar", "xzf", str(archive), "-C", str(folder)], check=True)
        subprocess.run(["sync", "-f", str(folder)], check=True)
    return spent
