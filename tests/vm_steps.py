"""The cost of statements on SQLite, counted in steps of its virtual machine: the same on every machine, however busy.

`python -m tests.vm_steps` measures how many steps take as much CPU time as to run one more statement.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import apsw

# To bind, start and reset a statement and to hand its rows to Python takes as much CPU time as so many steps, at least.
STEPS_PER_STATEMENT = 60


@dataclass
class Cost:
    statements: int = 0
    steps: int = 0

    @property
    def total(self) -> int:
        """In steps, with what each statement costs besides its own."""
        return self.steps + STEPS_PER_STATEMENT * self.statements


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


def measured_steps_per_statement() -> float:
    """By CPU time: many short statements, and one long one."""
    cursor = apsw.Connection(":memory:").cursor()
    count = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT max(i) FROM n"
    with counted(cursor.connection) as long:
        cursor.execute(count, (300_000,)).fetchall()
    started = time.thread_time()
    cursor.execute(count, (300_000,)).fetchall()
    step = (time.thread_time() - started) / long.steps
    started = time.thread_time()
    for number in range(20_000):
        cursor.execute("SELECT ?", (number,)).fetchall()
    return (time.thread_time() - started) / 20_000 / step


if __name__ == "__main__":
    print(f"{measured_steps_per_statement():.0f} steps a statement; the tests count {STEPS_PER_STATEMENT}")
