"""The commands of docs/packs.md, as a reader would paste them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.stage import Served

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_five_commands_lead_from_nothing_to_a_downloaded_pdf(tmp_path: Path) -> None:
    lines = re.findall(r"^```sh\n(.*?)^```", (ROOT / "docs" / "packs.md").read_text(), re.DOTALL | re.MULTILINE)[0]
    assert len(lines.splitlines()) == 5
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    environ |= {"PRESSROOM_HOME": str(tmp_path / "served" / "home"), "PYTHONPATH": str(ROOT)}
    command = f'pressroom() {{ "{sys.executable}" -m pressroom "$@"; }}'

    with Served(tmp_path / "served") as service:
        script = f"set -eo pipefail\n{command}\n{lines.replace('http://127.0.0.1:8000', service.url)}"
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 0, f"{done.stdout[-1500:]}\n{done.stderr}"
    assert (tmp_path / "offer.pdf").read_bytes().startswith(b"%PDF-")
