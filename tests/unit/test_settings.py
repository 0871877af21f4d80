"""Settings come in layers, and a layer holds only what was really set."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from pressroom import config
from pressroom.app import settings_types
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.config import Settings
from pressroom.errors import InvalidSettings
from tools import settings_docs


def load(
    tmp_path: Path, *, toml: str = "", env: dict[str, str] | None = None, flags: dict[str, object] | None = None
) -> Settings:
    file = tmp_path / "pressroom.toml"
    file.write_text(toml)
    return config.load_settings(flags, env or {}, file)


def test_everything_works_with_nothing_set() -> None:
    settings = config.load_settings({}, {}, None)

    assert settings == Settings()
    assert settings.slots >= 1
    assert settings.poll_interval == 0.1  # P13
    assert settings.cleanup_interval == 60.0  # P14


def test_flags_beat_the_environment_which_beats_the_file_which_beats_the_defaults(tmp_path: Path) -> None:
    toml = "workers = 1\nlease = 20\ngrace = 5\n"
    settings = load(tmp_path, toml=toml, env={"PRESSROOM_WORKERS": "2", "PRESSROOM_LEASE": "30"}, flags={"workers": "3"})

    assert (settings.workers, settings.lease, settings.grace, settings.max_queued) == (3, 30.0, 5.0, 1_000_000)
    assert settings.origins["workers"] == "flag"
    assert settings.origins["lease"] == "environment (PRESSROOM_LEASE)"


def test_a_flag_that_was_not_given_does_not_beat_the_file(tmp_path: Path) -> None:
    """A default that looks like a set value once overwrote what another product's users had in their files."""
    assert load(tmp_path, toml="workers = 7", flags={"workers": None}).workers == 7
    assert load(tmp_path, toml="workers = 7", env={"PRESSROOM_WORKERS": ""}).workers == 7


@pytest.mark.parametrize(
    ("env", "name", "value"),
    [
        ({"JOB_POLL_INTERVAL_MS": "250"}, "poll_interval", 0.25),  # P13, I11
        ({"JOB_CLEANUP_INTERVAL_MS": "5000"}, "cleanup_interval", 5.0),  # P14
        ({"CACHE_GC_INTERVAL": "7000"}, "cleanup_interval", 7.0),  # P19
        ({"JOB_DB_PATH": "data/jobs.db"}, "database", "sqlite:///data/jobs.db"),  # I11
        ({"DATABASE_URL": "sqlite:///a.db"}, "database", "sqlite:///a.db"),
        ({"DATABASE_URL": "sqlite:///a.db", "PRESSROOM_DATABASE": "sqlite:///b.db"}, "database", "sqlite:///b.db"),
        ({"DATABASE_URL": "sqlite:///a.db", "JOB_DB_PATH": "data/jobs.db"}, "database", "sqlite:///a.db"),
        ({"RENDER_WORKERS": "3"}, "presses", 3),
        ({"PRESSROOM_IMPORTS": "a.b, c"}, "imports", ("a.b", "c")),
    ],
)
def test_the_names_of_the_source_designs_are_understood(tmp_path: Path, env: dict[str, str], name: str, value: object) -> None:
    assert getattr(load(tmp_path, env=env), name) == value


def test_render_workers_in_the_file_means_presses_and_zero_means_the_cores(tmp_path: Path) -> None:  # W20, W31
    assert load(tmp_path, toml="render_workers = 3").press_count == 3
    assert load(tmp_path, toml="render_workers = 0").press_count == os.cpu_count()


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings) as refused:
        load(
            tmp_path,
            toml='workers = "x"\nlease = true\nimports = [1]\nwrokers = 1\n',
            env={"PRESSROOM_GRACE": "soon", "PRESSROOM_NONSENSE": "1", "PRESSROOM_DATABASE": "mysql://u:secret@h/d"},
        )

    told = "\n".join(refused.value.problems)
    for name in ("workers", "lease", "imports", "wrokers", "PRESSROOM_GRACE", "PRESSROOM_NONSENSE", "database"):
        assert name in told
    assert "secret" not in told, "an address is shown without its password"


def test_values_are_also_checked_together(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="too long for a lease"):
        load(tmp_path, toml="lease = 3\npoll_interval = 2\n")


def test_a_broken_file_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="line 2"):
        load(tmp_path, toml="workers = 1\nlease =\n")


def test_every_setting_is_documented_as_it_is_declared() -> None:
    text = settings_docs.PAGE.read_text(encoding="utf-8")

    assert text == settings_docs.fill_tables(text), "run ./dev docs"
    for name in (*config.ENVIRONMENT, *config.IN_FILE):
        assert f"`{name}`" in text, f"docs/settings.md does not mention {name}"


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("{all}", "add a line `<!-- settings: new -->` where its table belongs"),
        ("{all}{new}{new}", "there are 2 lines `<!-- settings: new -->`"),
        ("{all}{new}<!-- settings: gone -->\n", "remove `<!-- settings: gone -->`: there are no such settings"),
    ],
)
def test_a_table_of_settings_without_a_place_is_told_with_what_to_write(
    page: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, new = "".join(f"<!-- settings: {name} -->\n" for name in settings_docs.find_tables()), "<!-- settings: new -->\n"
    monkeypatch.setattr(settings_docs, "find_tables", lambda: dict.fromkeys(re.findall(r": (\w+)", places + new), "| x |\n"))

    with pytest.raises(SystemExit) as told:
        settings_docs.fill_tables(page.format(all=places, new=new))

    assert str(told.value) == f"docs/settings.md: {problem}"
    filled = settings_docs.fill_tables(f"{places}{new}## Next\n")
    assert filled.endswith("<!-- settings: new -->\n\n| x |\n\n## Next\n")
    assert settings_docs.fill_tables(filled) == filled


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@db/press", "postgresql://me:***@db/press"),
        (
            "postgresql://db/press?user=me&password=secret&sslmode=require",
            "postgresql://db/press?user=me&password=***&sslmode=require",
        ),
        ("postgresql://me:a@b@db/press?password=secret", "postgresql://me:***@db/press?password=***"),
        ("redis://:secret@cache:6379/0", "redis://:***@cache:6379/0"),
        ("postgresql://me@db/press", "postgresql://me@db/press"),
        ("postgresql://db/press", "postgresql://db/press"),
        ("sqlite:///press.db", "sqlite:///press.db"),
    ],
)
def test_an_address_is_told_without_its_password(address: str, shown: str) -> None:
    assert config.mask_password(address) == shown


POSTGRES = "postgresql://me@db/press"
S3 = {"s3_bucket": "b", "s3_endpoint": "e", "s3_access_key": "a", "s3_secret_key": "s"}

AT_BOUNDS = DiagramsSettings(max_versions=1, max_concurrent=1, max_waiting=0)

# One thing is wrong in each: the setting that is told, and the values.
OUT_OF_BOUNDS = [
    ("database", {"database": "sqlite:///"}),
    ("database", {"database": "sqlite://x.db"}),
    ("workers", {"workers": -1}),
    ("workers", {"workers": 10_001}),
    ("lease", {"lease": 0.999}),
    ("lease", {"lease": 3600.5}),
    ("poll_interval", {"poll_interval": 0.0009}),
    ("poll_interval", {"poll_interval": 60.5, "lease": 3600}),
    ("poll_interval", {"poll_interval": 1.01, "lease": 3}),
    ("cleanup_interval", {"cleanup_interval": 0}),
    ("grace", {"grace": -0.1}),
    ("max_queued", {"max_queued": 0}),
    ("delivery", {"delivery": "carrier pigeon"}),
    ("redis_url", {"delivery": "redis"}),
    ("redis_url", {"delivery": "redis", "redis_url": "http://cache"}),
    ("delivery", {"delivery": "oban"}),
    ("listen", {"listen": "8000"}),
    ("listen", {"listen": ":8000"}),
    ("listen", {"listen": "localhost:"}),
    ("listen", {"listen": "localhost:65536"}),
    ("metrics_listen", {"metrics_listen": "9100"}),
    ("metrics_listen", {"metrics_listen": "localhost:65536"}),
    ("base_url", {"base_url": "ftp://press"}),
    ("base_url", {"base_url": "https://press/"}),
    ("presses", {"presses": -1}),
    ("presses", {"presses": 1001}),
    ("cache_ttl", {"cache_ttl": 0}),
    ("cache_limit", {"cache_limit": -1}),
    ("auth_user", {"auth_enabled": True, "auth_pass": "secret"}),
    ("auth_user", {"auth_enabled": True, "auth_user": "anna"}),
    ("auth_user", {"auth_enabled": True, "auth_user": "an:na", "auth_pass": "secret"}),
    ("rate_limit", {"rate_limit": -1}),
    ("rate_limit_address", {"rate_limit_address": 1_000_000_001}),
    ("login_limit", {"login_limit": -1}),
    ("cors_origins", {"cors_origins": ("https://docs.example.org", "https://docs.example.org/")}),
    ("cors_origins", {"cors_origins": ("docs.example.org",)}),
    ("cors_origins", {"cors_origins": ("https://me@docs.example.org",)}),
    ("log_format", {"log_format": "xml"}),
    ("oban_schema", {"oban_schema": ""}),
    ("oban_schema", {"oban_schema": "Jobs"}),
    ("oban_schema", {"oban_schema": "1jobs"}),
    ("oban_schema", {"oban_schema": "jobs; DROP TABLE x"}),
    ("oban_schema", {"oban_schema": "j" * 52}),
    ("oban_schema", {"oban_schema": "pg_jobs"}),
    ("oban_schema", {"oban_schema": "pressroom"}),
    ("s3_endpoint", S3 | {"s3_endpoint": ""}),
    ("s3_access_key", S3 | {"s3_access_key": ""}),
    ("s3_secret_key", S3 | {"s3_secret_key": ""}),
]


@pytest.mark.parametrize(("name", "values"), OUT_OF_BOUNDS, ids=str)
def test_a_value_out_of_bounds_is_told_by_its_name(name: str, values: dict[str, Any]) -> None:
    (problem,) = Settings(**values).problems()

    assert problem.startswith(name)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("cache_ttl", {"cache_ttl": 0}),
        ("kept_link_ttl", {"kept_link_ttl": 0}),
        ("job_retention", {"job_retention": float("nan")}),
        ("max_versions", {"max_versions": -1}),
        ("max_concurrent", {"max_concurrent": 0}),
        ("max_waiting", {"max_waiting": -1}),
    ],
    ids=str,
)
def test_a_setting_of_an_app_is_told_with_its_section(name: str, values: dict[str, Any]) -> None:
    (problem,) = Settings(sections={"diagrams": DiagramsSettings(**values)}).problems()

    assert problem.startswith(f"[diagrams] {name}: ")


@pytest.mark.parametrize(
    "values",
    [
        {"database": "sqlite:///:memory:"},
        {"workers": 10_000, "presses": 1000},
        {"lease": 1, "poll_interval": 0.001},
        {"lease": 3600, "poll_interval": 60},
        {"lease": 3, "poll_interval": 1},
        {"grace": 0, "max_queued": 1, "sections": {"diagrams": AT_BOUNDS}},
        {"delivery": "redis", "redis_url": "unix:///run/redis.sock"},
        {"delivery": "oban", "database": POSTGRES},
        {"listen": "[::1]:65535", "base_url": "https://press/below", "metrics_listen": "[::1]:0"},
        {"auth_enabled": True, "auth_user": "anna", "auth_pass": "a:b"},
        {"rate_limit": 0, "rate_limit_address": 1_000_000_000, "login_limit": 0},
        {"cors_origins": ("*", "http://localhost:3000")},
        {"log_format": "json"},
        {"oban_schema": "_" + "j" * 50},
        S3,
        S3 | {"s3_access_key": "", "s3_secret_key": ""},  # those of the machine
    ],
    ids=str,
)
def test_values_at_their_bounds_are_taken(values: dict[str, Any]) -> None:
    assert list(Settings(**values).problems()) == []


def test_a_name_that_looks_like_a_setting_of_the_designs_is_told_and_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """P18, P19. It may be another program's."""
    environ = {"CACHE_GC_INTERVALL": "1", "QUEUE_MAX_WAITING": "7", "CACHE_POOL_SIZE": "8"}
    settings = config.load_settings({}, environ, find_sections=settings_types)

    assert settings.sections["diagrams"] == DiagramsSettings(max_waiting=7)
    assert [one.getMessage() for one in caplog.records] == [
        "CACHE_GC_INTERVALL is set in the environment, but there is no such setting; did you mean CACHE_GC_INTERVAL?",
        "CACHE_POOL_SIZE is set in the environment, but there is no such setting",
    ]


@pytest.mark.parametrize(
    ("argv", "env", "found"),
    [
        ([], {}, "text"),
        (["serve"], {"PRESSROOM_LOG_FORMAT": "json"}, "json"),
        (["serve"], {"PRESSROOM_LOG_FORMAT": "xml"}, "text"),
        (["serve", "--config", "json.toml"], {}, "json"),
        (["serve", "--config=json.toml"], {"PRESSROOM_LOG_FORMAT": ""}, "json"),
        (["serve", "--config=json.toml"], {"PRESSROOM_LOG_FORMAT": "text"}, "text"),
        (["serve"], {"PRESSROOM_CONFIG": "json.toml"}, "json"),
        (["serve", "--config", "torn.toml"], {}, "json"),
        (["serve", "--config", "none.toml"], {}, "text"),
        (["serve", "--config", "."], {}, "text"),
        (["serve", "--config", "\0"], {}, "text"),
        (["serve", "--config"], {}, "text"),
    ],
)
def test_the_log_format_is_known_before_the_settings_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str], env: dict[str, str], found: str
) -> None:
    (tmp_path / "json.toml").write_text('log_format = "json"\n')
    (tmp_path / "torn.toml").write_text("lease = \n  log_format = 'json'\n")
    monkeypatch.chdir(tmp_path)

    assert config.find_log_format(argv, env) == found


@pytest.mark.parametrize(
    ("env", "toml", "cache_ttl", "origin"),
    [
        ({}, "", 604_800.0, "default"),
        ({}, "[diagrams]\ncache_ttl = 5\n", 5.0, "pressroom.toml"),
        ({"CACHE_TTL": "60000"}, "[diagrams]\ncache_ttl = 5\n", 60.0, "environment (CACHE_TTL)"),
        (
            {"CACHE_TTL": "60000", "PRESSROOM_DIAGRAMS_CACHE_TTL": "7"},
            "",
            7.0,
            "environment (PRESSROOM_DIAGRAMS_CACHE_TTL)",
        ),
    ],
)
def test_a_setting_of_an_app_has_layers_and_names_as_those_of_the_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], toml: str, cache_ttl: float, origin: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pressroom.toml").write_text(toml)

    settings = config.load_settings({}, env, find_sections=settings_types)

    assert settings.sections["diagrams"] == DiagramsSettings(cache_ttl=cache_ttl)
    assert ("[diagrams] cache_ttl", str(cache_ttl), origin) in config.describe_settings(settings)


@pytest.mark.parametrize(
    ("env", "toml", "suggested"),
    [
        ({"PRESSROOM_DIAGRAM_CACHE_TTL": "1"}, "", "PRESSROOM_DIAGRAMS_CACHE_TTL"),
        ({"PRESSROOM_MAX_WAITING": "1"}, "", "PRESSROOM_DIAGRAMS_MAX_WAITING"),
        ({}, "diagram_cache_ttl = 1", "[diagrams] cache_ttl"),
        ({}, "queue_max_concurrent = 1", "[diagrams] max_concurrent"),
    ],
)
def test_a_setting_that_is_an_apps_is_suggested_with_its_section(
    tmp_path: Path, env: dict[str, str], toml: str, suggested: str
) -> None:
    file = tmp_path / "pressroom.toml"
    file.write_text(toml)

    with pytest.raises(InvalidSettings) as refused:
        config.load_settings({}, env, file, settings_types)

    (problem,) = refused.value.problems
    assert f"did you mean {suggested}?" in problem


def test_a_variable_of_an_app_that_is_set_to_nothing_is_as_good_as_none() -> None:
    def sections(_: object) -> dict[str, None]:
        return {"wiki": None}

    config.load_settings({}, {"PRESSROOM_WIKI_NO_SUCH": ""}, None, sections)
    with pytest.raises(InvalidSettings, match="PRESSROOM_WIKI_NO_SUCH"):
        config.load_settings({}, {"PRESSROOM_WIKI_NO_SUCH": "1"}, None, sections)
