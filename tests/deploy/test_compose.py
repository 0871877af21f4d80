"""No container engine runs here, so what compose.yaml and the Dockerfile say is held against the programs that they name."""

import json
import re
import subprocess
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import redis

from pressroom import Pressroom, config
from pressroom.app import BUILT_IN, settings_types
from pressroom.cli.parser import make_parser
from pressroom.definitions import POOLS
from pressroom.render_service.service import make_service as make_render_service
from pressroom.render_service.serving import make_app
from pressroom.serving import make_service
from tests.deploy import files
from tests.servers import S3Server, free_ports, running, valkey_server, wait_until, weed

OF_THE_ENGINES = {"PRESSROOM_CHROMIUM", "PRESSROOM_NODE", "PRESSROOM_ENGINES"}
OF_PYTHON = {"PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
OF_THE_IMAGES = {"POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
STARTING_TO_STOP = 5  # seconds past the grace, for what is told to stop and does not


def grace() -> float:
    return float(files.environment("pressroom.env.example")["PRESSROOM_GRACE"])


def test_the_example_holds_settings_that_there_are_and_that_fit_together() -> None:
    shown = files.environment("pressroom.env.example", commented=True)
    documented = (files.ROOT / "docs" / "settings.md").read_text()

    of_apps = {name for name in shown if name.startswith(tuple(f"PRESSROOM_{app.upper()}_" for app in BUILT_IN))}
    assert {*shown} - of_apps <= {*config.ENVIRONMENT, *OF_THE_ENGINES}
    assert [name for name in shown if f"`{name}`" not in documented] == []
    config.load_settings(environ=files.environment("pressroom.env.example"), find_sections=settings_types)
    config.load_settings(environ=shown, find_sections=settings_types)


def test_both_environment_files_name_the_same_secrets() -> None:
    ours, servers = files.environment("pressroom.env.example"), files.environment("servers.env.example")

    assert {*servers} == OF_THE_IMAGES
    assert ours["PRESSROOM_DATABASE"] == (
        f"postgresql://{servers['POSTGRES_USER']}:{servers['POSTGRES_PASSWORD']}@postgres:5432/{servers['POSTGRES_DB']}"
    )
    assert (ours["S3_ACCESS_KEY"], ours["S3_SECRET_KEY"]) == (servers["AWS_ACCESS_KEY_ID"], servers["AWS_SECRET_ACCESS_KEY"])
    assert f"-bucket={ours['S3_BUCKET']}" in files.command_of("s3")
    assert f"-s3.port={ours['S3_ENDPOINT'].rpartition(':')[2]}" in files.command_of("s3")


@pytest.mark.parametrize("service", files.OURS)
def test_a_service_runs_a_command_of_ours(service: str) -> None:
    make_parser().parse_args(files.command_of(service))


def test_every_pool_has_a_worker() -> None:
    """And what needs a way out of the inner network has another than those that render."""
    worker, courier = (make_parser().parse_args(files.command_of(service)) for service in ("worker", "courier"))

    assert sorted([*worker.pools, *courier.pools]) == sorted(POOLS)
    assert courier.pools == ["outbound"]
    assert worker.kinds is courier.kinds is None
    assert worker.all_but == courier.all_but == []
    assert Pressroom("sqlite:///:memory:", pools=courier.pools).registry.taken.keys() >= {"webhook"}
    assert Pressroom("sqlite:///:memory:", pools=worker.pools).registry.taken.keys() >= {"render", "diagram", "wiki.render"}


def test_every_kind_of_documentation_has_a_worker() -> None:
    """Without being named: by its pool."""
    docs = {kind.name for kind in Pressroom("sqlite:///:memory:", workers=None).app("docs").kinds}
    taken = {
        service: Pressroom("sqlite:///:memory:", pools=make_parser().parse_args(files.command_of(service)).pools).registry.taken
        for service in ("worker", "courier")
    }

    assert {"docs.build_processing", "docs.edition_update", "docs.lifecycle_eval"} <= taken["worker"].keys()
    assert {"docs.dashboard_sync", "docs.git_ref_audit", "docs.reconcile"} <= taken["courier"].keys()
    assert docs <= taken["worker"].keys() | taken["courier"].keys()


def test_documentation_sites_are_published_where_they_listen() -> None:
    told, shown = files.services()["api"], files.environment("pressroom.env.example")
    port = told["environment"]["PRESSROOM_DOCS_LISTEN"].rpartition(":")[2]

    assert f"127.0.0.1:{port}:{port}" in told["ports"]
    assert shown["PRESSROOM_DOCS_URL"] == f"http://127.0.0.1:{port}"
    assert dict(files.dockerfile())["EXPOSE"].split() == ["8000", port]


def test_every_service_of_design_002_is_there() -> None:
    """R1: by our names. The S3 server makes its bucket itself, so nothing has to be run for it."""
    there = {"api": "api", "redis": "valkey", "render-worker": "worker", "render": "render", "minio": "s3", "db": "postgres"}

    assert {*there.values()} <= files.services().keys()
    assert "render" in make_parser().parse_args(files.command_of("worker")).pools
    assert any(flag.startswith("-bucket=") for flag in files.command_of("s3"))
    assert files.services()["worker"]["networks"] == files.services()["render"]["networks"] == ["inside"]


def test_a_worker_of_outbound_kinds_is_the_only_one_with_a_way_out() -> None:
    workers = {name: told for name, told in files.services().items() if "work" in told.get("command", [])}

    assert {name for name, told in workers.items() if "outside" in told["networks"]} == {"courier"}
    assert {name for name in workers if "outbound" in make_parser().parse_args(files.command_of(name)).pools} == {"courier"}


def test_no_file_names_a_kind_that_a_worker_takes() -> None:
    texts = {file: file.read_text() for file in files.DEPLOY.rglob("*") if file.is_file()}

    assert [file.name for file, text in texts.items() if re.search(r"--(kinds|except)\b", text)] == []


@pytest.mark.parametrize("service", files.services())
def test_a_service_is_bounded_and_cannot_write_or_rise(service: str) -> None:
    told = files.services()[service]

    assert {*told["deploy"]["resources"]["limits"]} == {"cpus", "memory"}
    assert told["read_only"] is True
    assert "no-new-privileges:true" in told["security_opt"]
    assert "logging" in told
    assert "restart" in told
    assert service in files.OURS or told["healthcheck"]["test"]
    assert "outside" not in told["networks"] or service in ("api", "courier")


@pytest.mark.parametrize("service", files.OURS)
def test_a_service_is_given_longer_than_the_grace_and_starts_after_the_migration(service: str) -> None:
    told = files.services()[service]

    assert files.seconds(told["stop_grace_period"]) >= grace() + STARTING_TO_STOP
    if service == "render":
        assert "depends_on" not in told  # it has no database
        return
    assert told["depends_on"]["postgres"]["condition"] == "service_healthy"
    if service != "migrate":
        assert told["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


async def test_the_health_of_the_service_is_asked_at_an_address_that_there_is() -> None:
    (path,) = re.findall(r"127\.0\.0\.1:8000(/\w+)", str(files.services()["api"]["healthcheck"]["test"]))
    async with Pressroom("sqlite:///:memory:", workers=None) as press:
        _, app = make_service(press)

        assert path in app.document["paths"]


async def test_the_health_of_the_render_service_is_asked_where_it_listens() -> None:
    told = files.services()["render"]
    ((port, path),) = re.findall(r"127\.0\.0\.1:(\d+)(/\w+)", str(told["healthcheck"]["test"]))
    args = make_parser().parse_args(files.command_of("render"))
    environ = files.environment("pressroom.env.example", commented=True)
    service = make_render_service(config.load_settings({"listen": args.listen}, environ, find_sections=settings_types))

    assert args.listen == f"0.0.0.0:{port}"
    assert environ["RENDER_URL"] == f"http://render:{port}"
    assert path in {route.path for route in make_app(service).routes}
    assert "ports" not in told


@pytest.mark.parametrize("service", ["worker", "courier"])
def test_the_health_of_a_worker_is_asked_where_its_endpoint_listens_and_is_not_published(service: str) -> None:
    told = files.services()[service]
    environ = files.environment("pressroom.env.example") | told["environment"]
    settings = config.load_settings(environ=environ, find_sections=settings_types)
    (port, path) = re.findall(r"127\.0\.0\.1:(\d+)(/\w+)", str(told["healthcheck"]["test"]))[0]

    assert settings.metrics_address == ("0.0.0.0", int(port))
    assert path == "/readyz"
    assert "ports" not in told


def test_what_is_mounted_or_joined_is_declared() -> None:
    compose = files.compose()
    mounted = {volume.partition(":")[0] for told in files.services().values() for volume in told.get("volumes", ())}
    joined = {network for told in files.services().values() for network in told["networks"]}

    assert mounted == {*compose["volumes"]}
    assert joined == {*compose["networks"]}
    assert compose["networks"]["inside"]["internal"] is True


def test_no_image_names_its_registry() -> None:
    images = [told["image"] for told in files.services().values()]
    bases = re.findall(r"^ARG BASE=(\S+)", (files.DEPLOY / "Dockerfile").read_text(), re.MULTILINE)

    assert [image for image in (*images, *bases) if "." in image.split("/")[0].partition(":")[0]] == []


def test_the_image_is_made_of_files_that_are_there_and_are_not_ignored() -> None:
    let_in = [line[1:] for line in (files.DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [
        source
        for word, text in files.dockerfile()
        if word == "COPY" and not text.startswith("--from")
        for source in text.split()[:-1]
    ]

    assert {*copied} == {*let_in}
    assert [source for source in copied if not (files.ROOT / source).exists()] == []


def test_what_the_image_installs_is_pinned_by_hash_and_names_no_registry() -> None:
    named = {*re.findall(r"requirements/\w+\.txt", (files.DEPLOY / "Dockerfile").read_text())}

    assert named == {"requirements/build.txt", "requirements/scale.txt"}
    for name in named:
        text = (files.ROOT / name).read_text()
        entries = re.split(r"\n(?=\S)", text.strip())
        assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
        assert "://" not in text


def test_the_image_runs_as_nobody_special_and_hears_signals() -> None:
    told = files.dockerfile()
    final = told[[index for index, (word, _) in enumerate(told) if word == "FROM"][-1] :]
    said = dict(final)

    assert said["USER"] == "pressroom"
    assert said["STOPSIGNAL"] == "SIGTERM"
    assert json.loads(said["ENTRYPOINT"]) == ["tini", "--", "pressroom"]
    make_parser().parse_args(json.loads(said["CMD"]))
    make_parser().parse_args(json.loads(said["HEALTHCHECK"].partition("CMD ")[2])[1:])
    assert {*re.findall(r"([A-Z_]+)=", said["ENV"])} <= {*config.ENVIRONMENT, *OF_PYTHON}
    assert not [text for word, text in final if word == "RUN" and "g++" in text]


def test_the_s3_server_knows_its_flags_and_its_health(s3_server: S3Server) -> None:
    known = {
        *re.findall(r"^  -([\w.]+)", subprocess.run([weed(), "help", "mini"], capture_output=True, text=True).stderr, re.M)
    }
    mode, *flags = files.command_of("s3")
    (path,) = re.findall(r"8333(/\w+)", str(files.services()["s3"]["healthcheck"]["test"]))

    assert mode == "mini"
    assert {flag[1:].partition("=")[0] for flag in flags} <= known
    assert httpx.get(f"{s3_server.endpoint}{path}", trust_env=False, timeout=60).status_code == 200


def test_valkey_starts_with_its_command(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    command = [valkey_server(), *files.command_of("valkey")[1:], "--port", str(port), "--bind", "127.0.0.1"]
    with running(command, tmp_path / "log.txt", environ={}) as process, closing(redis.Redis(port=port)) as client:

        def answers() -> bool:
            try:
                return bool(client.ping())
            except redis.ConnectionError:
                return False

        wait_until(answers, process, tmp_path / "log.txt")
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
