"""The PostgreSQL database that a promotion fills: in a schema of its own, which becomes the real one at the very end."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Self

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from pressroom import failpoints
from pressroom.clock import SystemClock
from pressroom.config import mask_password
from pressroom.errors import InvalidSettings, NotADatabase, StoreBusy, TargetNotEmpty
from pressroom.promote.postgres_lines import Tally, batch_lines
from pressroom.promote.sqlite_source import JOB_NUMBER
from pressroom.promote.tables import Table
from pressroom.store.artifacts.store_identity import RecordedStore
from pressroom.store.engine import postgres_migrate
from pressroom.store.engine.migrations import migrations
from pressroom.store.engine.postgres_connection import CONNECT_TIMEOUT, SCHEMA, WRITING
from pressroom.store.engine.postgres_errors import PostgresErrors
from pressroom.store.engine.postgres_migrate import MIGRATING
from pressroom.store.engine.postgres_statements import translate_parameters
from pressroom.store.engine.schema import Schema
from pressroom.store.engine.statements import without_comments

STAGE = "pressroom_promotion"
PROMOTING = 4721010
PATIENCE = 10_000  # milliseconds for others to let go of the database
BATCH_ROWS = 20_000
BATCH_BYTES = 32 * 1024 * 1024

# What every process that opens a database writes into it by itself. A target that holds only this holds nothing yet.
_WRITTEN_BY_OPENING = frozenset({"pressroom_migration", "kind", "worker", "leader", "schedule", "blob_epoch"})


class Target:
    """To be used in a `with` block."""

    def __init__(self, url: str, schema: Schema) -> None:
        self._url = url
        self._schema = schema
        self.place = address_without_password(url)
        self._filled: dict[str, Table] = {}
        with PostgresErrors(url):
            self._raw: psycopg.Connection[Any] = psycopg.connect(
                url, autocommit=True, connect_timeout=CONNECT_TIMEOUT, application_name="pressroom promote"
            )
            try:
                self._raw.execute(f"SET lock_timeout = {PATIENCE}")
                postgres_migrate.pending(self._raw, url, schema)  # refuses what is newer than we are
            except BaseException:
                self._raw.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Closes it, and tells its errors as ours."""
        self._raw.close()
        PostgresErrors(self._url).__exit__(kind, error, trace)

    def lock(self) -> None:
        """One promotion at a time. The server lets go of it when we die."""
        try:
            self._raw.execute("SELECT pg_advisory_lock(%s)", (PROMOTING,))
        except errors.LockNotAvailable:
            raise StoreBusy(f"another promotion to {self.place} is under way") from None

    def existing_data(self, tables: Iterable[str]) -> list[str]:
        """What is there already, and would be lost. `tables` are ours: an empty one of these holds nothing."""
        ours, found = set(tables), []
        for name in self._tables(SCHEMA):
            if name in _WRITTEN_BY_OPENING:
                continue
            ((rows,),) = self._raw.execute(_for_table("SELECT count(*) FROM {}", SCHEMA, name)).fetchall()
            if rows or name not in ours:
                found.append(f"{self.place} has a table {name} with {rows:,} rows")
        return found

    def require_empty(self, tables: Iterable[str]) -> None:
        if taken := self.existing_data(tables):
            raise TargetNotEmpty(f"{'; '.join(taken)}; name an empty database")

    def has_promotion(self, promotion: str) -> bool:
        """Whether a promotion was brought to its end here."""
        return self._promotion_in(SCHEMA) == promotion

    def prepare_stage(self, tables: dict[str, Table], promotion: str, source: str) -> str:
        """Make the schema, or find it as an earlier run left it. Returns which promotion it is, ours or the earlier."""
        self._filled = tables
        earlier = self._promotion_in(STAGE)
        wanted = {migration.key for migration in migrations("postgres", self._schema)}
        if earlier is None or postgres_migrate.applied(self._raw, STAGE).keys() != wanted:
            self._create_stage(promotion, source)
            earlier = promotion
        self._raw.execute("SELECT set_config('search_path', %s, false)", (STAGE,))
        self._raw.execute("SET synchronous_commit = off")  # a batch and how far it is are forgotten together
        return earlier

    def _create_stage(self, promotion: str, source: str) -> None:
        with self._raw.transaction():
            self._raw.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(STAGE)))
            postgres_migrate.apply_migrations_in(STAGE, migrations("postgres", self._schema), self._raw, self._url)
            self._raw.execute(_statement("create_progress"))
            self._raw.execute(_statement("begin_promotion"), {"promotion": promotion, "source": source})
            for name, table in self._filled.items():
                if set(self._tables(STAGE).get(name, ())) != set(table.columns):
                    raise NotADatabase(f"the tables {name} of SQLite and PostgreSQL differ; this is a bug of Pressroom")
                # A row arrives as it is, ended or live, and its history owes no webhook anything. Foreign keys stay on.
                self._raw.execute(_for_table("ALTER TABLE {} DISABLE TRIGGER USER", STAGE, name))
            self._truncate_tables()

    def discard_progress(self) -> None:
        with self._raw.transaction():
            self._truncate_tables()
            self._raw.execute(_statement("forget_progress"))

    def _truncate_tables(self) -> None:
        """Also of what the migrations put there. Tables of apps that the source never used are empty, and refer to these."""
        self._raw.execute(sql.SQL("TRUNCATE {} CASCADE").format(self._filled_table_names()))

    def _filled_table_names(self) -> sql.Composed:
        return sql.SQL(", ").join(sql.Identifier(STAGE, name) for name in self._filled)

    def progress(self) -> dict[str, Tally]:
        rows = self._raw.execute(_statement("list_progress")).fetchall()
        return {name: Tally(count, size, int(digest, 16)) for name, count, size, digest in rows}

    def copy_batch(self, table: Table, lines: Iterator[bytes], tally: Tally) -> bool:
        """Send some lines, add them to the tally, and note how far it is. False if there were none."""
        columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
        into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(STAGE, table.name), columns)
        before = tally.rows
        with self._raw.transaction():
            with self._raw.cursor() as cursor, cursor.copy(into) as copy:
                for piece in batch_lines(lines, tally, rows=BATCH_ROWS, size=BATCH_BYTES):
                    copy.write(piece)
            if tally.rows == before:
                return False
            said = {"name": table.name, "rows": tally.rows, "size": tally.size, "digest": tally.hash}
            self._raw.execute(_statement("save_progress"), said)
            failpoints.hit("promote.before_batch")
        failpoints.hit("promote.after_batch")
        return True

    def tally(self, name: str) -> Tally:
        """What arrived, from the rows themselves."""
        table, tally = self._filled[name], Tally()
        columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
        out = sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(STAGE, name), columns)
        with self._raw.cursor() as cursor, cursor.copy(out) as copy:
            for line in copy:
                tally.add(line)
        return tally

    @contextmanager
    def finish_promotion(self, counters: dict[str, int], store: RecordedStore | None) -> Iterator[None]:
        """Make it the real one, when the block ends: guarded again, counting on from where the source was.

        `store` is the artifact store that the artifacts were copied to; None if they stay in that of the source.
        """
        self._raw.execute(sql.SQL("ANALYZE {}").format(self._filled_table_names()))
        with self._raw.transaction():
            self._raw.execute("SET LOCAL synchronous_commit = on")
            # No other session may be about to write to the tables that make way, nor to create them.
            self._raw.execute("SELECT pg_advisory_xact_lock(%s), pg_advisory_xact_lock(%s)", (MIGRATING, WRITING))
            self.require_empty(self._tables(STAGE))
            for name in self._filled:
                self._raw.execute(_for_table("ALTER TABLE {} ENABLE TRIGGER USER", STAGE, name))
            self._advance_sequences(counters)
            if store is not None:
                moment = SystemClock().now_ms()
                self._raw.execute(
                    _statement("replace_artifact_store"), {"id": store.id, "location": store.location, "now": moment}
                )
            self._raw.execute(_statement("end_promotion"))
            self._raw.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(SCHEMA)))
            self._raw.execute(sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(sql.Identifier(STAGE), sql.Identifier(SCHEMA)))
            yield

    def _advance_sequences(self, counters: dict[str, int]) -> None:
        sequences = dict(self._raw.execute(_statement("list_counters")).fetchall()) | {JOB_NUMBER: JOB_NUMBER}
        for name, last in counters.items():
            # A sequence that never gave a number stands before 1; it has no 0.
            self._raw.execute("SELECT setval(%s::regclass, %s, %s)", (sequences[name], max(last, 1), last > 0))

    def _tables(self, schema: str) -> dict[str, list[str]]:
        return dict(self._raw.execute(_statement("list_tables"), {"schema": schema}).fetchall())

    def _promotion_in(self, schema: str) -> str | None:
        if "pressroom_promotion" not in self._tables(schema):
            return None
        row = self._raw.execute(_for_table("SELECT uid FROM {}", schema, "pressroom_promotion")).fetchone()
        return None if row is None else str(row[0])


def address_without_password(url: str) -> str:
    """The address as it may be written down: without a password, however it was spelled. Raises InvalidSettings."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidSettings([f"--to: {mask_password(url)!r} is not an address; use postgresql://USER@HOST/NAME"])
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise InvalidSettings(["--to: the address cannot be understood; use postgresql://USER@HOST/NAME"]) from None
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    return f"postgresql://{user}{parts.get('host', '')}{port}/{parts.get('dbname', '')}"


@cache
def _statement(name: str) -> str:
    text = (files("pressroom.promote") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return translate_parameters(without_comments(text)).sql


def _for_table(text: Any, schema: str, name: str) -> sql.Composed:
    """The tables are those of the schema, so their names come from there and not from a file."""
    return sql.SQL(text).format(sql.Identifier(schema, name))
