"""`pressroom check` on everything that the settings name: each problem by its own code, with how to mend it."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pressroom.artifacts import folder_probe
from pressroom.base import dependencies
from tests.cli.conftest import Run
from tests.servers import free_ports

S3 = {"S3_BUCKET": "artifacts", "S3_ACCESS_KEY": "a-key", "S3_SECRET_KEY": "a-s3cret", "S3_USE_SSL": "false"}


@pytest.fixture
def problems(give: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The code, by what it is about, of each problem that `check --quick` finds under these settings."""
    monkeypatch.chdir(tmp_path)

    def check(*arguments: str, **environment: str) -> dict[str, str]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code, out, _ = give("check", "--json", *(arguments or ("--quick",)))
        told = json.loads(out)
        assert code == (0 if told["well"] else 1)
        assert "s3cret" not in out
        assert all(finding["mend"] for finding in told["findings"] if not finding["well"])
        return {finding["what"]: finding["code"] for finding in told["findings"] if not finding["well"]}

    return check


def test_all_is_well_and_no_folder_is_made(problems: Any, tmp_path: Path) -> None:
    assert problems() == {}
    assert list(tmp_path.iterdir()) == []


def test_each_problem_is_told(problems: Any, tmp_path: Path) -> None:
    (tmp_path / "broken_kinds.py").write_text("1 / 0\n")
    nowhere = f"127.0.0.1:{free_ports(1)[0]}"

    assert problems(
        **S3,
        S3_ENDPOINT=nowhere,
        PRESSROOM_DELIVERY="redis",
        PRESSROOM_REDIS_URL=f"redis://:s3cret@{nowhere}/0",
        PRESSROOM_IMPORTS="broken_kinds,no_such_module",
    ) == {"artifacts": "s3_unreachable", "delivery": "redis_unreachable", "imports": "import_failed"}


def test_s3_credentials_may_come_from_the_machine(
    problems: Any, give: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    nowhere = f"127.0.0.1:{free_ports(1)[0]}"
    bucket = {"S3_BUCKET": "artifacts", "S3_ENDPOINT": nowhere, "S3_USE_SSL": "false", "HOME": str(tmp_path)}

    assert problems(**bucket, AWS_EC2_METADATA_DISABLED="true") == {"artifacts": "s3_credentials_missing"}
    assert problems(AWS_PROFILE="staging") == {"artifacts": "s3_credentials_failed"}
    assert problems(AWS_ACCESS_KEY_ID="AKIA", AWS_SECRET_ACCESS_KEY="a-s3cret") == {"artifacts": "s3_unreachable"}
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", "2020-01-01T00:00:00Z")
    assert problems() == {"artifacts": "s3_credentials_expired"}


def test_what_an_import_failed_with_is_one_line(give: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "failing_kinds.py").write_text("raise ValueError('first\\nlast')\n")
    (tmp_path / "leaving_kinds.py").write_text("raise SystemExit(3)\n")
    monkeypatch.setenv("PRESSROOM_IMPORTS", "failing_kinds,leaving_kinds")

    code, out, err = give("check", "--quick")

    assert code == 1
    assert "Traceback" not in out + err
    assert "'failing_kinds' failed while it was imported: ValueError: first last (failing_kinds.py, line 1)" in out
    assert "'leaving_kinds' failed while it was imported: SystemExit: 3 (leaving_kinds.py, line 1)" in out


@pytest.mark.parametrize(
    ("package", "environment", "what"),
    [
        ("psycopg", {"PRESSROOM_DATABASE": "postgresql://me:s3cret@127.0.0.1/press"}, "database"),
        ("redis", {"PRESSROOM_DELIVERY": "redis", "PRESSROOM_REDIS_URL": "redis://127.0.0.1"}, "delivery"),
        ("oban", {"PRESSROOM_DELIVERY": "oban", "PRESSROOM_DATABASE": "postgresql://me:s3cret@127.0.0.1:1/press"}, "delivery"),
        ("obstore", S3 | {"S3_ENDPOINT": "127.0.0.1:1"}, "artifacts"),
    ],
)
def test_a_package_that_is_missing_is_a_finding(tmp_path: Path, package: str, environment: dict[str, str], what: str) -> None:
    """In a process of its own: modules that are imported anew would stay with the tests that come later."""
    program = f"""
import sys
sys.modules[{package!r}] = None  # as if it were not installed
from pressroom.cli.main import main
sys.exit(main())
"""
    command = [sys.executable, "-c", program, "check", "--quick", "--json"]
    ran = subprocess.run(command, cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True)

    findings = {finding["what"]: finding for finding in json.loads(ran.stdout)["findings"]}
    assert findings[what]["code"] == "package_missing"
    assert findings[what]["mend"]
    assert "s3cret" not in ran.stdout + ran.stderr


def test_a_folder_that_is_a_file_full_or_not_ours(problems: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a-file").write_text("")
    assert problems(PRESSROOM_ARTIFACTS=str(tmp_path / "a-file")) == {"artifacts": "store_unavailable"}

    (tmp_path / "shut").mkdir(mode=0o500)
    if os.geteuid():  # root may write everywhere
        assert problems(PRESSROOM_ARTIFACTS=str(tmp_path / "shut")) == {"artifacts": "store_read_only"}

    monkeypatch.setattr(folder_probe, "LEAST_SPACE", 1 << 62)
    assert problems(PRESSROOM_ARTIFACTS=str(tmp_path)) == {"artifacts": "store_full"}


async def test_a_probe_that_does_not_end_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "PROBE_TIMEOUT", 0.01)

    async def hang() -> str:
        await asyncio.sleep(3600)
        return ""

    assert (await dependencies.run_probe("delivery", hang)).code == "timeout"


async def test_an_unexpected_error_is_told_without_its_text() -> None:
    async def fail() -> str:
        raise ZeroDivisionError("s3cret")

    assert await dependencies.run_probe("artifacts", fail) == ("artifacts", "probe_failed", "ZeroDivisionError")


def test_every_code_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()
    assert [code for code in dependencies.MENDS if f"`{code}`" not in text] == []


def test_a_folder_is_written_to_and_left_as_it_was(tmp_path: Path) -> None:
    assert (
        folder_probe.probe_folder(tmp_path / "new", write=True) == f"{tmp_path / 'new'}, which is made when it is first needed"
    )
    (tmp_path / "tmp").mkdir()
    assert folder_probe.probe_folder(tmp_path, write=True) == str(tmp_path)
    assert list(tmp_path.rglob("*")) == [tmp_path / "tmp"]
