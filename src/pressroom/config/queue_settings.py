"""Settings of the queue: the database, workers, delivery, and what a process has whether or not it serves HTTP."""

import re
from dataclasses import dataclass

from pressroom.config.addresses import is_database
from pressroom.config.declaration import (
    Alias,
    DeclaredSettings,
    ValueCheck,
    at_least,
    between,
    milliseconds,
    one_of,
    positive,
    setting,
)
from pressroom.config.readers import read_sqlite_file

SHORTEST_KEY = 32  # characters
DELIVERIES = ("embedded", "redis", "oban")
# Oban writes the name without quotes, and names of channels begin with it: 63 bytes in PostgreSQL, less `.oban_insert`.
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,50}")
_SCHEMAS_IN_USE = ("information_schema", "pressroom", "pressroom_promotion")


def _is_free_schema(name: str) -> bool:
    return not name.startswith("pg_") and name not in _SCHEMAS_IN_USE


def _are_long_enough(keys: tuple[str, ...]) -> bool:
    return all(len(key) >= SHORTEST_KEY for key in keys)


@dataclass(frozen=True)
class QueueSettings(DeclaredSettings):
    database: str = setting(
        "sqlite:///pressroom.db",
        "`sqlite:///FILE` relative to the current folder, `sqlite:////abs/FILE`, `sqlite:///:memory:`, or "
        "`postgresql://USER:PASSWORD@HOST/NAME` (PostgreSQL 14 or newer; `pip install 'pressroom[postgres]'`; its "
        "tables are in the schema `pressroom`)",
        ValueCheck(
            is_database, "{!r} is not an address; use sqlite:///FILE, sqlite:///:memory: or postgresql://USER@HOST/NAME"
        ),
        aliases=(Alias("DATABASE_URL"), Alias("JOB_DB_PATH", read_sqlite_file, "a path, not an address")),
    )
    home: str = setting(
        "",
        "where the database and the artifacts lie, if they are named without a folder",
        shown_default="the current folder",
    )
    secret_key: tuple[str, ...] = setting(
        (),
        "encrypts webhook secrets and embed keys in the database; 32 characters or more (`openssl rand -base64 32`). "
        "On SQLite a key is made in `pressroom.key`, named after the database and readable by its user alone, when "
        "the first secret is stored. On PostgreSQL set it, the same in every process: without it these secrets are "
        "stored as they are, unless `pressroom.key` lies in `home`. Several keys with commas: the first encrypts, all "
        "decrypt",
        ValueCheck(_are_long_enough, f"a key has {SHORTEST_KEY} characters or more, such as `openssl rand -base64 32` prints"),
        secret=True,
        shown_default="a file beside the database",
    )
    workers: int = setting(
        0,
        "slots: jobs in progress at once in this process; 0 is eight for each engine process, at least 16. A slot is cheap: "
        "its job may wait for an engine process, the database or the artifact store. With two slots or more, one is kept for "
        "interactive jobs",
        between(0, 10_000, zero="several for each engine process"),
    )
    lease: float = setting(
        15.0,
        "seconds for which a claim holds without a heartbeat (five come in that time). A worker that dies on this "
        "machine is noticed within about a second anyway",
        between(1, 3600, unit="s"),
    )
    poll_interval: float = setting(
        0.1,
        "how often to look for news from other processes; news of this process needs no looking",
        ValueCheck(lambda value: 0.001 <= value <= 60, "{:g} s is not between 1 ms and 60 s"),
        aliases=(milliseconds("JOB_POLL_INTERVAL_MS"),),
    )
    cleanup_interval: float = setting(
        60.0,
        "how often to delete what is past its retention, and bytes that nothing names",
        positive(unit="s"),
        aliases=(milliseconds("JOB_CLEANUP_INTERVAL_MS"), milliseconds("CACHE_GC_INTERVAL")),
    )
    grace: float = setting(
        30.0,
        "seconds that running jobs have to finish when the process is stopped; the rest goes back to the queue, with "
        "no attempt charged",
        ValueCheck(lambda value: not value < 0, "{:g} s is negative"),
    )
    max_queued: int = setting(
        1_000_000,
        "when this many jobs wait, a submit is refused (`queue_full`), unless its organisation has less than its "
        "share in the queue: the limit divided by the organisations that have jobs there. Exact in one process; "
        "several may pass it by a hundredth each",
        at_least(1),
    )
    delivery: str = setting(
        "embedded",
        "how workers hear of jobs: `embedded`, `redis` ([redis.md](redis.md)), or `oban` (PostgreSQL only). Every "
        "process of a database has the same",
        one_of(*DELIVERIES),
    )
    redis_url: str = setting(
        "",
        "for `redis`: `redis://:PASSWORD@HOST:PORT/0`, `rediss://` for TLS, or `unix://`",
        aliases=(Alias("REDIS_URL"),),
    )
    render_queue: str = setting(
        "render_jobs",
        "for `redis`: the name of the list; `{kind}` in it makes one for each kind",
        aliases=(Alias("RENDER_QUEUE"),),
    )
    oban_schema: str = setting(
        "public",
        "for `oban`: the schema of oban's tables. Every process of a database has the same; another is refused "
        "([oban.md](oban.md#the-schema-of-obans-tables))",
        ValueCheck(
            _SCHEMA_NAME.fullmatch,
            "{!r} is not the name of a schema: up to 51 lower-case letters, digits and underscores, and no digit first",
        ),
        ValueCheck(_is_free_schema, "{!r} is not for oban's tables; name another schema"),
    )
    apps: tuple[str, ...] = setting(
        ("diagrams", "wiki", "packs", "docs"),
        "the apps of the service: built-in ones by name, others as `MODULE:NAME` "
        "([writing-an-app.md](writing-an-app.md)). Each has a section of its own, `[name]` in the file and "
        "`PRESSROOM_NAME_*` in the environment",
    )
    imports: tuple[str, ...] = setting(
        (),
        "modules that define kinds and schedules. Every process that runs or accepts them needs it: `pressroom work`, "
        "and `pressroom serve`, which refuses a kind that it does not know",
    )
    log_format: str = setting(
        "text",
        "`json` for one JSON object a line, with `ts`, `level` and `event`. Then everything that `serve`, `work`, "
        "`render-service`, `demo`, `promote` and `migrate` write is such a line ([deployment.md](deployment.md#what-to-watch))",
        one_of("text", "json"),
    )
    webhook_allow: tuple[str, ...] = setting(
        (),
        "hosts (`host`, or `host:port`) whose webhooks may be private addresses and speak `http`; all others are "
        "https and public",
    )
