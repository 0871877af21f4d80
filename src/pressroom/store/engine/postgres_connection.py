"""A connection to PostgreSQL that carries out units of work, speaks the statements' dialect, and knows how to come back."""

import select
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import errors, sql
from psycopg.adapt import Dumper, Loader
from psycopg.pq import TransactionStatus

from pressroom.clock import Clock, SystemClock
from pressroom.config import mask_password
from pressroom.errors import StoreUnavailable
from pressroom.model import NOT_SUPPORTED, Row, SingleRoundTrip, Statement, Work
from pressroom.store.engine.postgres_errors import PostgresErrors
from pressroom.store.engine.postgres_statements import (
    TranslatedSql,
    single_message_statements,
    translate_parameters,
    with_null_tests,
    without_nul,
)
from pressroom.store.engine.schema import CORE_ONLY, Schema
from pressroom.store.engine.statements import load, own_sql

SCHEMA = "pressroom"
CONNECT_TIMEOUT = 10  # seconds
BUSY_TIMEOUT = 5.0  # seconds that we wait for others to let go of what they hold
# Seconds that a transaction may stand still before the server ends it: its process may be stopped, and with the lock in its
# hands it stops all others. Less than the others wait for the lock, so that none is refused for it; more for a transaction that
# a caller holds open.
IDLE_TIMEOUT = 3.0
HELD_IDLE_TIMEOUT = 6.0
# A peer that vanished is noticed by the kernel and not by us: without these a lane would wait for it for hours.
_KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}

# A writer holds the first of these: shared with others if it touches only rows that it locks itself, else alone. The second is
# taken last, for the events: their numbers must become visible in the order in which they grow.
WRITING = 4721002
EVENTS = 4721003
CHANNEL = "pressroom"

# What a session is to be set to. A pooler may give each transaction another session, so there each transaction is set to it.
_SETTINGS = (
    f"search_path = {SCHEMA}, public",
    "TIME ZONE 'UTC'",
    "synchronous_commit = on",
)
# A claim, a heartbeat or progress that is lost with the power only means that the job runs again.
_FORGETFUL = "SET LOCAL synchronous_commit = off"
_BOTH_LOCKS = f"SELECT pg_advisory_xact_lock_shared({WRITING}), pg_advisory_xact_lock({EVENTS})"

# Statements that add to the history, and whose rows are not read before the commit. They are kept until then.
_HISTORY = frozenset({"insert_event", "insert_events", "record_starts", "record_submits"})
# These answer nothing. They go with the next statement, or with the commit, and need no round trip of their own.
_TOLD_LATER = frozenset({"insert_jobs", "insert_payloads", "record_failures", "raise_alerts"})
# The server does not know the name of a prepared statement, or knows it already. It says so and does nothing.
_STATEMENT_MISMATCH = (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)


class _WholeNumber(Dumper):
    """Every int as a bigint: otherwise its size would choose its type, and every mix of types is a statement of its own."""

    oid = psycopg.postgres.types["int8"].oid

    def dump(self, obj: Any) -> bytes:
        return str(obj).encode()


class _Float(Loader):
    """What avg() returns."""

    def load(self, data: Any) -> float:
        return float(bytes(data))


class PostgresConnection:
    """`clock` is only asked where a test has its own: the database's is the one that counts."""

    def __init__(self, url: str, clock: Clock, schema: Schema = CORE_ONLY, *, readonly: bool = False) -> None:
        self._url = url
        self._clock = None if type(clock) is SystemClock and not clock.is_shifted else clock
        self._readonly = readonly
        self._texts = {name: translate_parameters(text) for name, text in load("postgres", schema).items()}
        self._single_message = single_message_statements()
        self._history: list[tuple[TranslatedSql, Any]] = []
        self._untold: list[tuple[TranslatedSql, Any]] = []
        self._moment: int | None = None  # by the database's clock, when the transaction began
        self._marked = 0
        self.raw = self._connect()

    def _connect(self) -> "psycopg.Connection[Any]":
        with PostgresErrors(self._url):
            raw = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=CONNECT_TIMEOUT,
                application_name="pressroom",
                prepare_threshold=2,
                **_KEEPALIVE,
            )
            raw.adapters.register_dumper(int, _WholeNumber)
            raw.adapters.register_loader("numeric", _Float)
            raw.prepared_max = 500
            settings = (
                *_SETTINGS,
                f"idle_in_transaction_session_timeout = {int(IDLE_TIMEOUT * 1000)}",
                f"lock_timeout = {int(BUSY_TIMEOUT * 1000)}",
            )
            self.is_pooled = is_pooled(raw)
            if self.is_pooled:
                raw.prepare_threshold = None
                self._begin_settings = [f"SET LOCAL {setting}" for setting in settings]
            else:
                raw.execute("; ".join(f"SET {setting}" for setting in settings), prepare=False)
                self._begin_settings = []
            self._cursor = raw.cursor()
            self._session_names: set[str] = set()  # of the statements that we have prepared in this session
            return raw

    def execute(self, text: str, params: Any = None) -> list[Row]:
        self._execute_after_deferred(text, params)
        return self._cursor.fetchall() if self._cursor.description is not None else []

    def _execute_after_deferred(self, text: str, params: Any = None, *, prepare: bool | None = None) -> None:
        if not self._untold:
            self._cursor.execute(text, params, prepare=prepare)
            return
        with self.raw.pipeline():
            self._send_deferred()
            self._cursor.execute(text, params, prepare=prepare)

    def _send_deferred(self) -> None:
        """Within a pipeline."""
        untold, self._untold = self._untold, []
        for text, params in untold:
            self.raw.execute(text.sql, params)

    def run_work[T](self, work: Work[T]) -> T:
        """Feed a unit of work its statements' rows until it returns."""
        try:
            statement = next(work)
            while True:
                statement = work.send(self._rows(*statement) if type(statement) is Statement else NOT_SUPPORTED)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _rows(self, name: str, params: Any) -> list[Row]:
        text = self._texts.get(name)
        if name == "read_clock":
            if self._clock is not None:
                return [(self._clock.now_ms(),)]
            if self._moment is not None:
                moment, self._moment = self._moment, None
                return [(moment,)]
        if text is None:
            text = translate_parameters(own_sql(name))
        if params:
            params = with_null_tests(params, text)
        if name in _HISTORY and not self._readonly:
            self._history.append((text, params))
            return []
        if name in _TOLD_LATER and not self._readonly:
            self._untold.append((text, params))
            return []
        if name == "delete_jobs" and self._history:  # it may tell of these, and is written when they are gone
            self._history.append((self._texts["forget_history"], params))
        return self.execute(text.sql, params)

    def begin(self, *, durable: bool, shared_lock: bool, held: bool = False) -> None:
        self._clear_transaction_state()
        lock = "pg_advisory_xact_lock_shared" if shared_lock else "pg_advisory_xact_lock"
        said = [f"SET LOCAL lock_timeout = {int(BUSY_TIMEOUT * 1000)}", f"SELECT {lock}({WRITING})"]
        if not durable:
            said.insert(0, _FORGETFUL)
        if held:  # the clock is asked for later, and then wants to know how late it is
            said.insert(0, f"SET LOCAL idle_in_transaction_session_timeout = {int(HELD_IDLE_TIMEOUT * 1000)}")
            self._begin("BEGIN", *said)
            return
        self._begin("BEGIN", *said, self._texts["read_clock"].sql)
        while self._cursor.nextset():
            pass
        ((self._moment,),) = self._cursor.fetchall()

    def single_round_trip(self, statement: SingleRoundTrip, durable: bool) -> list[Row]:
        """`begin` beside others, the statement, and `commit`, in one round trip. The locks come before the statement looks.

        Prepared statements are the session's, and others may end them: psycopg does after a ROLLBACK or DDL. So that we have
        prepared one is a guess. Where the server contradicts, the statement is sent once more, in full.
        """
        self._clear_transaction_state()
        if self.lost or self._is_closed_by_server():
            self.raw.close()
            self.raw = self._connect()
        name, params = statement
        single = self._single_message[name]
        moment = None if self._clock is None else self._clock.now_ms()
        values = without_nul({**(params or {}), "now": moment, "channel": CHANNEL})
        literals = {parameter: sql.Literal(value).as_string(self.raw) for parameter, value in values.items()}
        if self.is_pooled:
            return self._execute_and_commit([], single.inline_sql(literals), durable)
        is_prepared = single.session_name in self._session_names
        try:
            rows = self._execute_and_commit([] if is_prepared else [single.prepare()], single.execute(literals), durable)
            self._session_names.add(single.session_name)
            return rows
        except _STATEMENT_MISMATCH:
            # Only if the server says that the transaction has failed: then it was begun, and is not committed.
            if self.raw.pgconn.transaction_status != TransactionStatus.INERROR:
                raise
            self.rollback()
            return self._execute_and_commit([], single.inline_sql(literals), durable)

    def _execute_and_commit(self, preparation: list[str], call: str, durable: bool) -> list[Row]:
        beginning = ["BEGIN", *self._begin_settings, *([] if durable else [_FORGETFUL])]
        message = "; ".join([*beginning, *preparation, _BOTH_LOCKS, call, "COMMIT"])
        self._cursor.execute(message, prepare=False)
        rows: list[Row] = []
        while self._cursor.nextset():
            if self._cursor.description is not None:
                rows = self._cursor.fetchall()
        self._require_committed(self._cursor.statusmessage)
        return rows

    def _is_closed_by_server(self) -> bool:
        """Whether the server closed the connection while it was idle: then there is something to read, or an end."""
        look = select.poll()
        look.register(self.raw.fileno(), select.POLLIN)
        return bool(look.poll(0))

    def read[T](self, unit: Callable[[], Work[T]]) -> T:
        try:
            with PostgresErrors(self._url):
                self._begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                return self.run_work(unit())
        finally:
            self.rollback()

    def _begin(self, begin: str, *statements: str) -> None:
        """A connection may have been cut while it was idle. Trying again is safe, because nothing was begun."""
        if self.lost:
            self.raw = self._connect()
        try:
            self._execute_simple("; ".join([begin, *self._begin_settings, *statements]))
        except psycopg.Error:
            self.rollback()
            if not self.lost:
                raise
            self.raw = self._connect()
            self._execute_simple("; ".join([begin, *self._begin_settings, *statements]))

    def savepoint(self) -> None:
        self._marked = len(self._history)
        self._execute_simple("SAVEPOINT unit")

    def release_savepoint(self) -> None:
        self._execute_simple("RELEASE unit")

    def rollback_to_savepoint(self) -> bool:
        if self.lost:
            return False
        del self._history[self._marked :]
        self._untold.clear()
        self._rollback_and_deallocate("ROLLBACK TO unit; RELEASE unit")
        return True

    def commit(self) -> None:
        """The history goes last, under a lock of its own, together with the commit and in one round trip."""
        history, self._history = self._history, []
        if not history:
            self._execute_simple("COMMIT")
            self._require_committed(self._cursor.statusmessage)
            return
        with self.raw.pipeline():
            self._send_deferred()
            self.raw.execute(f"SELECT pg_advisory_xact_lock({EVENTS})")
            for text, params in history:
                self.raw.execute(text.sql, params)
            self.raw.execute("SELECT pg_notify(%s, '')", (CHANNEL,))
            ended = self.raw.execute("COMMIT")
        self._require_committed(ended.statusmessage)

    def _require_committed(self, status_message: str | None) -> None:
        """PostgreSQL answers the COMMIT of a transaction that went wrong with ROLLBACK, and without an error."""
        if status_message != "COMMIT":
            raise StoreUnavailable(f"{mask_password(self._url)} rolled the transaction back")

    def _clear_transaction_state(self) -> None:
        self._history.clear()
        self._untold.clear()
        self._moment = None

    def rollback(self) -> None:
        self._clear_transaction_state()
        if self.lost:
            return
        try:
            match self.raw.pgconn.transaction_status:
                case TransactionStatus.IDLE:
                    pass
                case TransactionStatus.INTRANS if self._readonly:
                    self._execute_simple(
                        "END"
                    )  # nothing to undo, and what is prepared stays so; no COMMIT, because nothing was written
                case _:
                    self._rollback_and_deallocate("ROLLBACK")
        except psycopg.Error:
            self.raw.close()

    def _rollback_and_deallocate(self, text: str) -> None:
        """Roll back, and deallocate every prepared statement on the server, here and in psycopg.

        psycopg records statements that it sent in a pipeline as prepared, even if the server never ran them. It forgets them
        after a ROLLBACK, but only if it does not count the text as a statement to prepare, and it never counts two statements
        in one text.
        """
        self._session_names.clear()
        self._execute_simple(text if self.is_pooled else f"{text}; DEALLOCATE ALL")

    @property
    def lost(self) -> bool:
        return self.raw.closed or self.raw.broken

    def translating_errors(self) -> "PostgresErrors":
        return PostgresErrors(self._url)

    def close(self) -> None:
        self.raw.close()

    def _execute_simple(self, text: str) -> None:
        """Several statements without parameters in one round trip; one alone, if there is something untold."""
        self._execute_after_deferred(text, prepare=False)


def is_pooled(raw: "psycopg.Connection[Any]") -> bool:
    """Whether a pooler such as PgBouncer is between us and the server. It tells each client a process number of its own making.

    In transaction mode, what is set or prepared in a session, and what it listens for, is then another client's or gone.
    """
    row = raw.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    return row is not None and row[0] != raw.info.backend_pid
