"""The commands of docs/documentation.md, as a reader would paste them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx

from tests.client.stage import until
from tests.servers import free_ports, running

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "documentation.md").read_text()


def test_five_commands_lead_from_nothing_to_a_site_with_two_versions(tmp_path: Path) -> None:
    lines = re.findall(r"^```sh\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)[0].splitlines()
    assert len(lines) == 5
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    port = free_ports(1)[0]
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PRESSROOM", "DOCVERSE"))}
    environ |= {"PYTHONPATH": str(ROOT), "PRESSROOM_DOCS_LISTEN": f"127.0.0.1:{port}"}
    command = f'pressroom() {{ "{sys.executable}" -m pressroom "$@"; }}'

    script = "\n".join(("set -e", command, f"cd {shlex.quote(str(tmp_path))}", *lines[:4]))
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-1500:]}\n{done.stderr}"
    assert f"http://127.0.0.1:{port}/acme/guide/v/1.0/" in done.stdout

    edge = [sys.executable, "-m", *shlex.split(lines[4])]
    with (
        running(edge, tmp_path / "edge.log", environ | {"PRESSROOM_HOME": str(tmp_path)}) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}/acme/guide/", trust_env=False) as site,
    ):

        def answers() -> bool:
            assert process.poll() is None, (tmp_path / "edge.log").read_text()
            try:
                return site.get("").status_code < 500
            except httpx.TransportError:
                return False

        until(answers)
        assert "This is version 2.0" in site.get("").text
        assert "This is version 1.0" in site.get("v/1/").text
        assert "This is version 1.0" in site.get("v/1.0/index.html").text
        dashboard, switcher = site.get("v/").text, site.get("v/switcher.json").json()
        assert ["Latest 2.x" in dashboard, "Latest 1.0.x" in dashboard] == [True, True]
        assert {one["version"] for one in switcher} == {"2.0.0", "1", "2"}
        missing = site.get("v/1/upgrade.html")
        assert missing.status_code == 404
        assert "upgrade.html" in missing.text
        assert "v/2/upgrade.html" in missing.text


def test_every_command_of_the_document_is_one_that_exists() -> None:
    """Of the blocks and of the running text: `pressroom docs ACTION`, with its flags."""
    from pressroom.app import BUILT_IN, find_apps
    from pressroom.cli.parser import make_parser

    parser = make_parser(find_apps(BUILT_IN), ["docs"])
    blocks = re.findall(r"^```(?:sh|yaml)\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)
    lines = [line.strip().removeprefix("- ") for block in blocks for line in block.splitlines()]
    given = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("pressroom docs ")]

    assert len(given) > 15
    for arguments in given:
        parsed = parser.parse_args(arguments)  # which ends the process if it is wrong
        assert parsed.command == "docs"
