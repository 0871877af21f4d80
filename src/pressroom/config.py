"""Settings: defaults < pressroom.toml < environment < flags. Read once, frozen, and every problem told at once.

A layer holds only what was really set, so that a default can never beat a file. The names of the source designs
(JOB_POLL_INTERVAL_MS and others) are understood beside our own; docs/settings.md lists them all.
"""

import difflib
import logging
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, get_type_hints

from pressroom.errors import InvalidSettings
from pressroom.regular_files import NotRegular, read_regular

log = logging.getLogger(__name__)

FILE = "pressroom.toml"
KEY_FILE = "pressroom.key"
SLOTS_PER_PRESS = 8
FEWEST_SLOTS = 16  # more than queue_max_concurrent's default, which would have no effect otherwise
SHORTEST_KEY = 32  # characters
DELIVERIES = ("embedded", "redis", "oban")
# Oban writes the name without quotes, and names of channels begin with it: 63 bytes in PostgreSQL, less `.oban_insert`.
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,50}")
_SCHEMAS_IN_USE = ("information_schema", "pressroom", "pressroom_promotion")
SECRETS = ("s3_access_key", "s3_secret_key", "auth_pass", "secret_key")


@dataclass(frozen=True)
class Settings:
    database: str = "sqlite:///pressroom.db"
    workers: int = 0
    lease: float = 15.0
    poll_interval: float = 0.1
    cleanup_interval: float = 60.0
    grace: float = 30.0
    max_queued: int = 1_000_000
    delivery: str = "embedded"
    redis_url: str = ""
    render_queue: str = "render_jobs"
    oban_schema: str = "public"
    apps: tuple[str, ...] = ("diagrams", "wiki")
    imports: tuple[str, ...] = ()
    home: str = ""
    listen: str = "127.0.0.1:8000"
    metrics_listen: str = ""
    base_url: str = ""
    artifacts: str = ""
    presses: int = 0
    cache_ttl: float = 7 * 24 * 3600.0
    diagram_cache_ttl: float = 7 * 24 * 3600.0
    kept_link_ttl: float = 30 * 24 * 3600.0
    cache_limit: int = 10 * 1024**3
    diagram_versions: int = 0
    job_retention: float = 3600.0
    queue_max_concurrent: int = 10
    queue_max_waiting: int = 50
    auth_enabled: bool = False
    auth_user: str = ""
    auth_pass: str = field(default="", repr=False)
    secret_key: tuple[str, ...] = field(default=(), repr=False)
    rate_limit: int | None = None
    rate_limit_address: int | None = None
    login_limit: int = 20
    head_limit: int = 64 * 1024
    body_limit: int = 12 * 1024 * 1024
    form_limit: int = 64 * 1024
    head_timeout: float = 20.0
    body_timeout: float = 60.0
    keep_alive_timeout: float = 65.0
    max_connections: int = 2000
    max_connections_address: int = 100
    cors_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    log_format: str = "text"
    webhook_allow: tuple[str, ...] = ()
    s3_endpoint: str = ""
    s3_presign_endpoint: str = ""
    s3_bucket: str = ""
    s3_prefix: str = ""
    s3_region: str = "us-east-1"
    s3_access_key: str = field(default="", repr=False)
    s3_secret_key: str = field(default="", repr=False)
    s3_use_ssl: bool = True
    sections: Mapping[str, "Section"] = field(default_factory=dict)  # of the apps, as they were written
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def problems(self) -> Iterator[str]:
        """What is wrong with the values, alone and together."""
        if not self.on_postgres and (not self.database.startswith("sqlite:///") or self.database == "sqlite:///"):
            yield (
                f"database: {masked(self.database)!r} is not an address; use sqlite:///FILE, sqlite:///:memory: or "
                "postgresql://USER@HOST/NAME"
            )
        if not 0 <= self.workers <= 10_000:
            yield f"workers: {self.workers} is not between 0 (several for each press) and 10000"
        if not 1 <= self.lease <= 3600:
            yield f"lease: {self.lease:g} s is not between 1 and 3600 s"
        if not 0.001 <= self.poll_interval <= 60:
            yield f"poll_interval: {self.poll_interval:g} s is not between 1 ms and 60 s"
        if self.poll_interval > self.lease / 3:
            yield f"poll_interval: {self.poll_interval:g} s is too long for a lease of {self.lease:g} s; use at most a third"
        if self.cleanup_interval <= 0:
            yield f"cleanup_interval: {self.cleanup_interval:g} s is not above 0"
        if self.grace < 0:
            yield f"grace: {self.grace:g} s is negative"
        if self.max_queued < 1:
            yield f"max_queued: {self.max_queued} is not at least 1"
        if self.delivery not in DELIVERIES:
            yield f"delivery: {self.delivery!r} is not {', '.join(DELIVERIES[:-1])} or {DELIVERIES[-1]}"
        if self.delivery == "redis" and not self.redis_url.startswith(("redis://", "rediss://", "unix://")):
            yield f"redis_url: {masked(self.redis_url)!r} is not an address; use redis://HOST:PORT/0"
        if self.delivery == "oban" and not self.on_postgres:
            yield "delivery: oban delivers on PostgreSQL only; set database to postgresql://USER@HOST/NAME"
        if not _SCHEMA_NAME.fullmatch(self.oban_schema):
            yield (
                f"oban_schema: {self.oban_schema!r} is not the name of a schema: up to 51 lower-case letters, digits and "
                "underscores, and no digit first"
            )
        elif self.oban_schema.startswith("pg_") or self.oban_schema in _SCHEMAS_IN_USE:
            yield f"oban_schema: {self.oban_schema!r} is not for oban's tables; name another schema"
        if not _is_address(self.listen):
            yield f"listen: {self.listen!r} is not HOST:PORT"
        if self.metrics_listen and not _is_address(self.metrics_listen):
            yield f"metrics_listen: {self.metrics_listen!r} is not HOST:PORT"
        if self.base_url and (not self.base_url.startswith(("http://", "https://")) or self.base_url.endswith("/")):
            yield f"base_url: {self.base_url!r} must begin with http:// or https:// and not end with /"
        if not 0 <= self.presses <= 1_000:
            yield f"presses: {self.presses} is not between 0 (one per core) and 1000"
        for name in ("cache_ttl", "diagram_cache_ttl", "kept_link_ttl", "job_retention"):
            if not getattr(self, name) > 0:
                yield f"{name}: {getattr(self, name):g} s is not above 0"
        if self.cache_limit < 0:
            yield f"cache_limit: {self.cache_limit} is not 0 (no limit) or a number of bytes"
        if self.diagram_versions < 0:
            yield f"diagram_versions: {self.diagram_versions} is not at least 1, or 0 for all"
        if self.queue_max_concurrent < 1 or self.queue_max_waiting < 0:
            yield "queue_max_concurrent is at least 1, and queue_max_waiting not negative"
        if self.auth_enabled and not (self.auth_user and self.auth_pass):
            yield "auth_user and auth_pass: are needed when auth_enabled is set"
        if any(len(key) < SHORTEST_KEY for key in self.secret_key):
            yield f"secret_key: a key has {SHORTEST_KEY} characters or more, such as `openssl rand -base64 32` prints"
        if ":" in self.auth_user:
            yield "auth_user: a name has no colon"
        for name in ("rate_limit", "rate_limit_address"):
            if not 0 <= (getattr(self, name) or 0) <= 1_000_000_000:
                yield f"{name}: {getattr(self, name)} is not between 0 (no limit) and 1000000000"
        if not 0 <= self.login_limit <= 1_000_000_000:
            yield f"login_limit: {self.login_limit} is not between 0 (no limit) and 1000000000"
        for name in ("head_limit", "body_limit", "form_limit"):
            if not 1024 <= getattr(self, name) <= 1024**3:
                yield f"{name}: {getattr(self, name)} bytes are not between 1024 and 1073741824"
        for name in ("head_timeout", "body_timeout", "keep_alive_timeout"):
            if not 1 <= getattr(self, name) <= 3600:
                yield f"{name}: {getattr(self, name):g} s is not between 1 and 3600 s"
        for name in ("max_connections", "max_connections_address"):
            if not 0 <= getattr(self, name) <= 1_000_000:
                yield f"{name}: {getattr(self, name)} is not between 0 (no limit) and 1000000"
        for origin in self.cors_origins:
            if origin != "*" and not re.fullmatch(r"https?://[^/?#@\s]+", origin):
                yield f"cors_origins: {origin!r} is not an origin such as https://docs.example.org, or *"
        for host in self.allowed_hosts:
            if host != "*" and not re.fullmatch(r"\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:]+", host):
                yield f"allowed_hosts: {host!r} is not a host name without a port, such as press.example.org, .example.org or *"
        if self.log_format not in ("text", "json"):
            yield f"log_format: {self.log_format!r} is not text or json"
        if self.s3_bucket and not self.s3_endpoint:
            yield "s3_endpoint: is needed when s3_bucket is set"
        if self.s3_bucket and self.s3_secret_key and not self.s3_access_key:
            yield "s3_access_key: is needed when s3_secret_key is set"
        if self.s3_bucket and self.s3_access_key and not self.s3_secret_key:
            yield "s3_secret_key: is needed when s3_access_key is set"

    @property
    def on_postgres(self) -> bool:
        return self.database.startswith(("postgresql://", "postgres://"))

    @property
    def place(self) -> str:
        """Where the database is, for people: a file, or an address without its password."""
        return masked(self.database) if self.on_postgres else self.path

    @property
    def path(self) -> str:
        """The SQLite file, or `:memory:`. One that is named without a folder lies in `home`."""
        path = self.database.removeprefix("sqlite:///")
        return str(Path(self.home) / path) if self.home and path != ":memory:" else path

    @property
    def address(self) -> tuple[str, int]:
        return _host_and_port(self.listen)

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """Where a worker process answers with its metrics, if anywhere."""
        return _host_and_port(self.metrics_listen) if self.metrics_listen else None

    @property
    def artifact_folder(self) -> str:
        """Beside the database, unless it is set. A database in memory has its artifacts in a temporary folder: ''."""
        if self.artifacts or self.path == ":memory:":
            return self.artifacts
        if self.on_postgres:
            return str(Path(self.home) / "pressroom.artifacts")
        return str(Path(self.path).with_suffix(".artifacts"))

    @property
    def artifact_location(self) -> str:
        """Where artifacts go, as it is told to people."""
        if self.s3_bucket:
            prefix = f"/{self.s3_prefix.strip('/')}" if self.s3_prefix else ""
            return f"artifacts in the bucket {self.s3_bucket}{prefix} at {masked(self.s3_endpoint) or 'the usual endpoint'}"
        return f"artifacts in {self.artifact_folder or 'a temporary folder'}"

    @property
    def key_file(self) -> Path | None:
        """Where the key lies that encrypts secrets, unless `secret_key` is set. A database in memory has none."""
        if self.on_postgres:
            return Path(self.home) / KEY_FILE
        return None if self.path == ":memory:" else Path(self.path).with_suffix(".key")

    @property
    def slots(self) -> int:
        """Jobs in progress at once. By default several for each press, so that jobs commit while others are rendered."""
        return self.workers or max(FEWEST_SLOTS, SLOTS_PER_PRESS * self.press_count)

    @property
    def press_count(self) -> int:
        """Processes that render at once, for each engine."""
        return self.presses or os.cpu_count() or 1


@dataclass(frozen=True)
class _Name:
    """One way to spell a setting."""

    setting: str
    read: Callable[[Any], Any]


def _is_address(text: str) -> bool:
    host, _, port = text.rpartition(":")
    return bool(host) and port.isdigit() and int(port) <= 65_535


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("a whole number")
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a number")
    return float(value)


def _milliseconds(value: Any) -> float:
    return _number(value) / 1000


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text that is not empty")
    return value


def _switch(value: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError("true or false")


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(filter(None, (name.strip() for name in value.split(","))))
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ValueError("a list of names")


def _file(value: Any) -> str:
    return f"sqlite:///{_text(value)}"


_READERS: dict[str, Callable[[Any], Any]] = {
    "database": _text,
    "workers": _whole,
    "lease": _number,
    "poll_interval": _number,
    "cleanup_interval": _number,
    "grace": _number,
    "max_queued": _whole,
    "delivery": _text,
    "redis_url": _text,
    "render_queue": _text,
    "oban_schema": _text,
    "apps": _names,
    "imports": _names,
    "home": _text,
    "listen": _text,
    "metrics_listen": _text,
    "base_url": _text,
    "artifacts": _text,
    "presses": _whole,
    "cache_ttl": _number,
    "diagram_cache_ttl": _number,
    "kept_link_ttl": _number,
    "cache_limit": _whole,
    "diagram_versions": _whole,
    "job_retention": _number,
    "queue_max_concurrent": _whole,
    "queue_max_waiting": _whole,
    "auth_enabled": _switch,
    "auth_user": _text,
    "auth_pass": _text,
    "secret_key": _names,
    "rate_limit": _whole,
    "rate_limit_address": _whole,
    "login_limit": _whole,
    "head_limit": _whole,
    "body_limit": _whole,
    "form_limit": _whole,
    "head_timeout": _number,
    "body_timeout": _number,
    "keep_alive_timeout": _number,
    "max_connections": _whole,
    "max_connections_address": _whole,
    "cors_origins": _names,
    "allowed_hosts": _names,
    "log_format": _text,
    "webhook_allow": _names,
    "s3_endpoint": _text,
    "s3_presign_endpoint": _text,
    "s3_bucket": _text,
    "s3_prefix": _text,
    "s3_region": _text,
    "s3_access_key": _text,
    "s3_secret_key": _text,
    "s3_use_ssl": _switch,
}

# In the environment a later name wins over an earlier one: ours over those of the source designs.
ENVIRONMENT: dict[str, _Name] = {
    "JOB_DB_PATH": _Name("database", _file),
    "DATABASE_URL": _Name("database", _text),
    "RENDER_WORKERS": _Name("presses", _whole),
    "JOB_POLL_INTERVAL_MS": _Name("poll_interval", _milliseconds),
    "CACHE_GC_INTERVAL": _Name("cleanup_interval", _milliseconds),
    "JOB_CLEANUP_INTERVAL_MS": _Name("cleanup_interval", _milliseconds),
    "BASE_URL": _Name("base_url", _text),
    "REDIS_URL": _Name("redis_url", _text),
    "RENDER_QUEUE": _Name("render_queue", _text),
    "CACHE_TTL": _Name("diagram_cache_ttl", _milliseconds),
    "JOB_RETENTION_MS": _Name("job_retention", _milliseconds),
    "QUEUE_MAX_CONCURRENT": _Name("queue_max_concurrent", _whole),
    "QUEUE_MAX_WAITING": _Name("queue_max_waiting", _whole),
    "AUTH_ENABLED": _Name("auth_enabled", _switch),
    "AUTH_USER": _Name("auth_user", _text),
    "AUTH_PASS": _Name("auth_pass", _text),
    "S3_ENDPOINT_URL": _Name("s3_endpoint", _text),
    **{name.upper(): _Name(name, reader) for name, reader in _READERS.items() if name.startswith("s3_")},
    **{f"PRESSROOM_{name.upper()}": _Name(name, reader) for name, reader in _READERS.items() if not name.startswith("s3_")},
}

IN_FILE: dict[str, _Name] = {
    "render_workers": _Name("presses", _whole),
    **{name: _Name(name, reader) for name, reader in _READERS.items()},
}

# How the settings of the source designs begin.
_DESIGN_PREFIXES = ("QUEUE_", "CACHE_")

# Read elsewhere: by the bootstrap script, the tests, the failpoints, the engines.
_NOT_OURS = frozenset(
    {
        "PRESSROOM_PYTHON",
        "PRESSROOM_PEERS_PYTHON",
        "PRESSROOM_CONFIG",
        "PRESSROOM_FAILPOINTS",
        "PRESSROOM_FAILPOINT_SEED",
        "PRESSROOM_CLOCK_OFFSET",
        "PRESSROOM_CHROMIUM",
        "PRESSROOM_NODE",
        "PRESSROOM_ENGINES",
        "PRESSROOM_URL",  # of the client
        "PRESSROOM_TOKEN",
    }
)


# What was set for one app: by the name of the field, the value and where it was set.
type Section = Mapping[str, tuple[Any, str]]

# By the name of each app: the dataclass of its settings, or None if it has none.
type FindSections = Callable[[Sequence[str]], Mapping[str, type | None]]


def load(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: str | Path | None = None,
    find_sections: FindSections = dict.fromkeys,
) -> Settings:
    """The settings of all layers together. Raises InvalidSettings with every problem found."""
    environ = os.environ if environ is None else environ
    problems: list[str] = []
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    path = Path(file or environ.get("PRESSROOM_CONFIG") or FILE)
    in_file = _read_file(path, required=file is not None, problems=problems)
    in_environment = _from_environment(environ)
    layers = [
        (str(path), IN_FILE, {name: value for name, value in in_file.items() if not isinstance(value, dict)}),
        ("environment", ENVIRONMENT, {name: value for name, value in in_environment.items() if name in ENVIRONMENT}),
        ("flag", IN_FILE, {name: value for name, value in (flags or {}).items() if value is not None}),
    ]
    for origin, names, layer in layers:
        for spelling in [name for name in names if name in layer]:
            name = names[spelling]
            try:
                values[name.setting] = name.read(layer[spelling])
                origins[name.setting] = f"{origin} ({spelling})" if spelling != name.setting else origin
            except ValueError as reason:
                problems.append(f"{spelling}: {layer[spelling]!r} is not {_expected(reason)} ({origin})")
        for unknown in layer.keys() - names.keys():
            problems.append(f"{unknown}: there is no such setting{_suggest(unknown, names)} ({origin})")
    try:
        types = find_sections(values.get("apps", Settings.apps))
    except InvalidSettings as invalid:
        problems += invalid.problems
        types = {}
    sections = _sections(types, str(path), in_file, in_environment, problems)
    settings = Settings(**values, sections=sections, origins=origins)
    for app, section in sections.items():
        problems += _problems_of(app, section, types[app])
    problems += settings.problems()
    if problems:
        raise InvalidSettings(problems)
    return settings


def find_log_format(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """`text` or `json`, as the settings will say, however wrong the rest of them is. Never raises.

    A process needs it before it has read its settings: what is wrong with them is told in that format too.
    """
    environ = os.environ if environ is None else environ
    named: object = environ.get("PRESSROOM_LOG_FORMAT")
    if not named:
        path = _config_flag(argv) or environ.get("PRESSROOM_CONFIG") or FILE
        try:
            named = _log_format_in(read_regular(Path(path), follow=True).decode(errors="replace"))
        except (OSError, ValueError):  # ValueError: a path with a NUL
            named = None
    return "json" if named == "json" else "text"


def find_apps_setting(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The setting `apps`, if it is set, before the settings are read: commands of apps are needed to read the flags."""
    environ = os.environ if environ is None else environ
    if named := environ.get("PRESSROOM_APPS"):
        return _names(named)
    path = Path(_config_flag(argv) or environ.get("PRESSROOM_CONFIG") or FILE)
    try:
        return _names(_read_file(path, required=False, problems=[]).get("apps", ()))
    except ValueError:  # which the settings tell
        return ()


def _config_flag(argv: Sequence[str]) -> str | None:
    for flag, value in pairwise([*argv, ""]):
        if flag == "--config":
            return value
        if flag.startswith("--config="):
            return flag.removeprefix("--config=")
    return None


def _log_format_in(text: str) -> object:
    try:
        return tomllib.loads(text).get("log_format")
    except tomllib.TOMLDecodeError:  # the line may be right all the same
        found = re.search(r"""^\s*log_format\s*=\s*["'](\w+)["']""", text, re.MULTILINE)
        return found and found[1]


def describe(settings: Settings) -> list[tuple[str, str, str]]:
    """Each setting with its value and where it came from."""
    return [
        (one.name, _told(one.name, getattr(settings, one.name)), settings.origins.get(one.name, "default"))
        for one in fields(Settings)
        if one.name not in ("origins", "sections")
    ] + [
        (f"[{app}] {name}", _told(name, value), origin)
        for app, section in settings.sections.items()
        for name, (value, origin) in section.items()
    ]


def _read_file(path: Path, *, required: bool, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular(path, follow=True).decode())
    except FileNotFoundError:
        if required:
            problems.append(f"{path}: there is no such file")
    except (NotRegular, IsADirectoryError):
        problems.append(f"{path}: is not a regular file")
    except (OSError, UnicodeDecodeError) as reason:
        problems.append(f"{path}: cannot be read: {reason}")
    except tomllib.TOMLDecodeError as reason:
        problems.append(f"{path}: {reason}")
    return {}


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What may be meant for us: the names that we know, and others that begin like ours."""
    for name in environ:
        if name.startswith(_DESIGN_PREFIXES) and name not in ENVIRONMENT:  # it may belong to another program: only a warning
            log.warning("%s is set in the environment, but there is no such setting%s", name, _suggest(name, ENVIRONMENT))
    ours = {name: value for name, value in environ.items() if name in ENVIRONMENT and value != ""}
    others = {name for name in environ if name.startswith("PRESSROOM_")} - ENVIRONMENT.keys() - _NOT_OURS
    return ours | {name: environ[name] for name in others}


def _sections(
    types: Mapping[str, type | None],
    path: str,
    in_file: Mapping[str, Any],
    in_environment: Mapping[str, str],
    problems: list[str],
) -> dict[str, dict[str, tuple[Any, str]]]:
    """The tables of the file, and over them what the environment says. What belongs to no app is a problem."""
    sections: dict[str, dict[str, tuple[Any, str]]] = {name: {} for name in types}
    for name, table in in_file.items():
        if isinstance(table, dict) and name in sections:
            sections[name] |= {field_name: (value, path) for field_name, value in table.items()}
        elif isinstance(table, dict):
            known = ", ".join(f"[{app}]" for app in types)
            problems.append(f"[{name}]: there is no such section; the apps have {known or 'none'} ({path})")
    for variable in in_environment.keys() - ENVIRONMENT.keys():
        owner = next((name for name in types if variable.startswith(f"PRESSROOM_{name.upper()}_")), None)
        if owner is None:
            problems.append(f"{variable}: there is no such setting{_suggest(variable, ENVIRONMENT)} (environment)")
        elif in_environment[variable] != "":
            field_name = variable.removeprefix(f"PRESSROOM_{owner.upper()}_").lower()
            sections[owner][field_name] = (in_environment[variable], "environment")
    return {name: section for name, section in sections.items() if section}


_FIELD_READERS: dict[Any, Callable[[Any], Any]] = {
    int: _whole,
    float: _number,
    str: _text,
    bool: _switch,
    tuple[str, ...]: _names,
}


def read_section(name: str, section: Section, settings_type: type | None) -> Any:
    """The settings of an app. Raises InvalidSettings with every problem found."""
    problems: list[str] = []
    values: dict[str, Any] = {}
    types = get_type_hints(settings_type) if settings_type is not None else {}
    for field_name, (value, origin) in section.items():
        spelling = f"PRESSROOM_{name}_{field_name}".upper() if origin == "environment" else f"[{name}] {field_name}"
        if field_name not in types:
            problems.append(f"{spelling}: there is no such setting{_suggest(field_name, types)} ({origin})")
            continue
        try:
            values[field_name] = _FIELD_READERS[types[field_name]](value)
        except ValueError as reason:
            problems.append(f"{spelling}: {value!r} is not {_expected(reason)} ({origin})")
    made = settings_type(**values) if settings_type is not None and not problems else None
    if made is not None and hasattr(made, "problems"):
        problems += [f"[{name}] {problem}" for problem in made.problems()]
    if problems:
        raise InvalidSettings(problems)
    return made


def _problems_of(name: str, section: Section, settings_type: type | None) -> list[str]:
    try:
        read_section(name, section, settings_type)
    except InvalidSettings as invalid:
        return invalid.problems
    return []


def _expected(reason: ValueError) -> str:
    text = str(reason)
    return "a number" if "convert" in text or "literal" in text else text


def _suggest(unknown: str, names: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(unknown, names, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _told(name: str, value: object) -> str:
    return ("***" if value else "") if name in SECRETS else masked(_shown(value))


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)


def masked(address: str) -> str:
    """An address without its password."""
    scheme, found, rest = address.partition("://")
    rest = re.sub(r"(?<=[?&]password=)[^&]*", "***", rest)
    credentials, at, host = rest.rpartition("@")
    if not found:
        return address
    if not at:
        return f"{scheme}://{rest}"
    user, colon, _ = credentials.partition(":")
    return f"{scheme}://{user}{':***' if colon else ''}@{host}"
