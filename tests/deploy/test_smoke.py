"""The smoke run of packs, against real processes."""

import subprocess
import sys

from tests.deploy import files


def test_a_document_of_a_pack_is_made_and_downloaded_from_the_command_line() -> None:
    """R40: pack, render, poll until ready, file_id, download, %PDF."""
    done = subprocess.run([sys.executable, "-m", "tools.smoke", "packs"], cwd=files.ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("ready: file ")
    assert done.stdout.rstrip().endswith("bytes that begin with %PDF")


def test_the_smoke_script_says_what_failed() -> None:
    """R40."""
    done = subprocess.run(["sh", files.DEPLOY / "smoke-packs.sh", "http://127.0.0.1:1"], capture_output=True, text=True)

    assert done.returncode == 1
    assert "smoke: " in done.stderr
