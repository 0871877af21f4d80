"""`pressroom docs upload --server`: a real service in a process of its own, tokens, and connections that break."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.apps.docs.test_cli_commands import EXAMPLE, MARKERS
from tests.cli.conftest import Run, _patient, give
from tests.client.stage import Served, proxy_to
from tests.contract.conftest import s3_server
from tests.servers import S3Server, free_ports

__all__ = ["_patient", "give", "s3_server"]

NAMES = ("PRESSROOM_ORG", "PRESSROOM_PROJECT", "PRESSROOM_URL", "PRESSROOM_TOKEN", "DOCVERSE_PROJECT")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    listen = f"127.0.0.1:{free_ports(1)[0]}"
    with Served(folder, PRESSROOM_DOCS_LISTEN=listen, PRESSROOM_DOCS_URL=f"http://{listen}") as served:
        pressroom(served, "docs", "init", "acme")
        pressroom(served, "docs", "project", "acme/guide", "--main-mode", "semver_release")
        yield served


def pressroom(service: Served, *arguments: str) -> str:
    """Another process beside the service, on its database."""
    command = [sys.executable, "-m", "pressroom", *arguments, "--database", service.database]
    environ = service._environ | {"PRESSROOM_HOME": str(service.folder / "home")}
    done = subprocess.run(command, env=environ, cwd=service.folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def run(service: Served, give: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """A client elsewhere, which has no database."""
    for name in (*NAMES, *MARKERS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCVERSE_API", service.url)
    monkeypatch.setenv("DOCVERSE_ORG", "acme")
    monkeypatch.chdir(tmp_path)
    for version in ("1.0", "2.0"):
        shutil.copytree(EXAMPLE / version, tmp_path / version)

    def upload(*arguments: str) -> tuple[int, str, str]:
        return give("docs", "upload", *arguments)

    return upload


def parse(printed: tuple[int, str, str]) -> Any:
    assert printed[0] == 0, printed[2]
    return json.loads(printed[1])


def test_a_site_is_uploaded_and_followed(run: Run, tmp_path: Path) -> None:
    plan = parse(run("1.0", "--project", "guide", "--git-ref", "v1.0.0", "--dry-run", "--json"))
    first = run("1.0", "--project", "guide", "--git-ref", "v1.0.0", "-a", "note=by hand")
    again = parse(run("1.0", "--project", "acme/guide", "--git-ref", "v1.0.0", "--json"))
    later = parse(run("2.0", "--project", "guide", "--git-ref", "v1.1.0", "--dry-run", "--json"))

    assert {one["slug"]: one["action"] for one in plan["editions"]} == {"__main": "move", "1": "create", "1.0": "create"}
    assert first[0] == 0
    assert [line.split()[0] for line in first[1].splitlines()[1:]] == ["EDITION", "__main", "1", "1.0"]
    lines = first[2].splitlines()
    assert [phase in lines for phase in ("queued", "editions", "  __main: published", "  1.0: published")] == [True] * 4
    assert not again["uploaded"]
    assert again["build"]["annotations"] == {"note": "by hand"}
    assert {one["slug"]: one["action"] for one in later["editions"]} == {"__main": "move", "1": "move", "1.1": "create"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.0", "2.0"]  # no database


def test_connections_that_break_do_not_stop_an_upload(run: Run, service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy_to(service.port) as proxy:
        proxy.cuts = [0, 300, 1500, 0]  # two while it is announced, one later, one of the archive
        monkeypatch.setenv("DOCVERSE_API", proxy.url)

        done = parse(run("2.0", "--project", "guide", "--git-ref", "feature/breaks", "--json"))

    assert proxy.cuts == []
    assert [one["slug"] for one in done["editions"]] == ["feature-breaks"]
    assert done["job"]["status"] == "completed"


def test_a_wait_that_is_over_names_the_job(run: Run, service: Served) -> None:
    pressroom(service, "queue", "pause", "docs.build_processing")
    try:
        code, _, err = run("2.0", "--project", "guide", "--git-ref", "feature/late", "--timeout", "0.5")
        queued = run("2.0", "--project", "guide", "--git-ref", "feature/later", "--no-wait", "--json")
    finally:
        pressroom(service, "queue", "resume", "docs.build_processing")
    build = err.split("build ")[1].split()[0]

    assert (code, f"goes on as {service.url}/queue/jobs/" in err) == (5, True)
    assert parse(queued)["job"].startswith(f"{service.url}/queue/jobs/")
    assert "status: completed" in pressroom(service, "docs", "build", build, "--wait")


def test_an_interrupt_ends_the_waiting_and_not_the_job(run: Run, service: Served, tmp_path: Path) -> None:
    pressroom(service, "queue", "pause", "docs.build_processing")
    command = [
        sys.executable,
        "-m",
        "pressroom",
        "docs",
        "upload",
        "2.0",
        "--project",
        "guide",
        "--git-ref",
        "feature/interrupted",
    ]
    environ = service._environ | {"DOCVERSE_API": service.url, "DOCVERSE_ORG": "acme"}
    try:
        with subprocess.Popen(command, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            lines = iter(process.stderr)
            assert "queued\n" in lines  # reads up to it
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
    finally:
        pressroom(service, "queue", "resume", "docs.build_processing")

    assert (process.returncode, "goes on as" in said) == (130, True)
    assert "Traceback" not in said
    assert "status: completed" in pressroom(service, "docs", "build", said.split("build ")[1].split()[0], "--wait")


def test_a_token_uploads_to_its_own_organisation(run: Run, service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def token(scope: str, org: str) -> str:
        made = json.loads(pressroom(service, "token", "create", "--scope", scope, "--org", org, "--json"))
        return str(made["secret"])

    upload = ("1.0", "--project", "guide", "--git-ref", "feature/token")
    codes = {}
    for name, secret in (
        ("own", token("submitter", "acme")),
        ("reader", token("viewer", "acme")),
        ("other", token("submitter", "other")),
        ("wrong", "pr_0000"),
    ):
        monkeypatch.setenv("DOCVERSE_TOKEN", secret)
        codes[name], _, err = run(*upload)
        assert secret not in err

    assert codes == {"own": 0, "reader": 7, "other": 6, "wrong": 7}


def test_a_project_is_made_if_asked(run: Run) -> None:
    missing = run("1.0", "--project", "acme/new", "--git-ref", "main")
    made = parse(run("1.0", "--project", "acme/new", "--git-ref", "main", "--create", "--json"))

    assert missing[0] == 6
    assert [one["slug"] for one in made["editions"]] == ["__main"]


def test_what_is_no_pressroom_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCVERSE_API", f"http://127.0.0.1:{free_ports(1)[0]}")
    nobody = run("1.0", "--project", "guide", "--git-ref", "main")
    monkeypatch.setenv("DOCVERSE_API", "not an address")
    nothing = run("1.0", "--project", "guide", "--git-ref", "main")

    assert (nobody[0], "[unreachable]" in nobody[2]) == (4, True)
    assert (nothing[0], "is not the address of a service" in nothing[2]) == (2, True)


@pytest.mark.deep
def test_an_archive_goes_directly_into_a_bucket(
    s3_server: S3Server, give: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Presigned (Q19): the service has no address for the archive itself."""
    listen = f"127.0.0.1:{free_ports(1)[0]}"
    bucket = {
        "S3_ENDPOINT": s3_server.endpoint,
        "S3_BUCKET": s3_server.bucket,
        "S3_ACCESS_KEY": s3_server.access_key,
        "S3_SECRET_KEY": s3_server.secret_key,
        "S3_PREFIX": tmp_path.name,
    }
    for name in (*NAMES, *MARKERS):
        monkeypatch.delenv(name, raising=False)
    with Served(tmp_path / "served", PRESSROOM_DOCS_LISTEN=listen, PRESSROOM_DOCS_URL=f"http://{listen}", **bucket) as served:
        pressroom(served, "docs", "init", "acme")
        upload = (
            "docs",
            "upload",
            str(EXAMPLE / "2.0"),
            "--project",
            "acme/guide",
            "--git-ref",
            "main",
            "--server",
            served.url,
        )
        done = parse(give(*upload, "--create", "--json"))
        again = parse(give(*upload, "--json"))
        address = done["editions"][0]["published_url"]
        page = httpx.get(address, trust_env=False).text

    assert done["job"]["status"] == "completed"
    assert address == f"http://{listen}/acme/guide/"
    assert "This is version 2.0" in page
    assert not again["uploaded"]
    assert "/uploads/" not in served.log
