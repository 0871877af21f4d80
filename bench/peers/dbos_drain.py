"""Drain DBOS on SQLite."""

import json
import os
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSConfig

folder, count, payload = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
database = folder / "dbos.db"
QUEUE = "bench"


class Connection(sqlite3.Connection):
    """DBOS asks SQLite for unixepoch('subsec'), which is NULL before 3.42, and then cannot start. Older ones get it here."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if sqlite3.sqlite_version_info < (3, 42):
            self.create_function("unixepoch", 1, lambda _: time.time())
        self.execute("PRAGMA synchronous = FULL")


# At its best among what keeps the promise we make, that an accepted job survives a power failure:
# - The write-ahead log, which it does not choose by itself: that alone is half as fast again.
# - No limit on concurrency, so that one look at the queue takes all that waits, and a look every 50 ms instead of every
#   second. With limits of 4 to 64 and looks every 2 to 10 ms it was slower: each look costs several statements.
# - Two threads for workflows: with 64 they fight over the one writer; with one to eight it was faster by a third.
# - A synchronous workflow: an asynchronous one was slower by a third. No steps: each would be another commit.
with sqlite3.connect(database) as connection:
    connection.execute("PRAGMA journal_mode = WAL")
connection.close()
config: DBOSConfig = {
    "name": "bench",
    "system_database_url": f"sqlite:///{database}",
    "db_engine_kwargs": {"connect_args": {"factory": Connection}},
    "max_executor_threads": 2,
    "log_level": "CRITICAL",
}

begun = threading.Event()


@DBOS.workflow()
def noop(payload: object) -> None:
    begun.set()


def completed() -> int:
    with sqlite3.connect(database) as connection:
        ((ended,),) = connection.execute("SELECT count(*) FROM workflow_status WHERE status = 'SUCCESS'")
    connection.close()
    return int(ended)


def launch(*listening: str) -> None:
    DBOS(config=config)
    DBOS.listen_queues(list(listening))
    DBOS.launch()


launch()
DBOS.register_queue(QUEUE, polling_interval_sec=0.05)
for _ in range(count):
    DBOS.enqueue_workflow(QUEUE, noop, payload)
DBOS.destroy()

launch(QUEUE)
begun.wait()  # not its start, and not the second after which it first looks at its queues
started = time.perf_counter()
while completed() < count:
    time.sleep(0.02)
print(time.perf_counter() - started)
sys.stdout.flush()
os._exit(0)  # it would wait for its own threads
