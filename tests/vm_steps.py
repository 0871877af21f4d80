"""The cost of statements on SQLite, counted in steps of its virtual machine: the same on every machine, however busy."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import apsw


@dataclass
class Cost:
    statements: int = 0
    steps: int = 0


@contextmanager
def counted(connection: apsw.Connection) -> Iterator[Cost]:
    cost = Cost()

    def note(event: dict[str, Any]) -> None:
        cost.statements += 1
        cost.steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    try:
        yield cost
    finally:
        connection.trace_v2(0)
