"""The lines of docs/http.md and docs/client.md, as somebody would paste them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pressroom.client import Client, Unreachable, problem_of
from pressroom.errors import QueueFull, SourceInvalid
from tests.client.stage import Served

DOCS = Path(__file__).parents[2] / "docs"
HERE = "http://127.0.0.1:8000"


def blocks(file: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / file).read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("served", ["file"], indirect=True)
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_every_curl_line_of_the_service_works(served: Served, tmp_path: Path) -> None:
    script = "\n".join(["set -eo pipefail", *blocks("http.md", "sh")]).replace(HERE, served.url)
    environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}

    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 0, f"{done.stdout[-1500:]}\n{done.stderr}"
    assert '"line":1' in done.stdout
    assert "event: completed" in done.stdout
    assert (tmp_path / "picture.svg").read_text().lstrip().startswith(("<svg", "<?xml"))


@pytest.mark.parametrize("served", ["file"], indirect=True)
def test_every_example_of_the_client_works(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_URL", served.url)
    monkeypatch.chdir(tmp_path)
    first, second, third, fourth = blocks("client.md", "python")
    names: dict[str, object] = {"Client": Client, "SourceInvalid": SourceInvalid, "QueueFull": QueueFull}
    names |= {"Unreachable": Unreachable, "problem_of": problem_of}

    exec(first.replace(HERE, served.url), names)
    program = "import asyncio\nasync def main():\n" + "".join(f"    {line}\n" for line in second.splitlines())
    exec(f"{program}asyncio.run(main())", names)
    with Client() as client:
        exec(third, names | {"client": client})
    exec(fourth.replace("Client(timeout", "one = Client(timeout").replace("\nClient(r", "\ntwo = Client(r"), names)
    exec("one.close(); two.close()", names)

    assert b"<svg" in names["picture"]  # type: ignore[operator]
    assert (tmp_path / "hello.pdf").read_bytes().startswith(b"%PDF")
