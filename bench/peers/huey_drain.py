"""Drain huey on SQLite."""

import itertools
import json
import sys
import threading
import time
from pathlib import Path

from huey import SqliteHuey

folder, count, payload, fsync = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4] == "fsync"

# - fsync=True is synchronous=FULL: the promise that we make, that an accepted job survives a power failure. Without it huey
#   is some three times as fast, and may forget; the bench measures both.
# - The write-ahead log, as it comes: one fsync for a commit instead of several.
# - No results: a result would be one more commit for each job. (We keep the job's row, its result and its history.)
# - A page cache that holds the whole queue.
huey = SqliteHuey("bench", filename=str(folder / "huey.db"), fsync=fsync, journal_mode="wal", results=False, cache_mb=64)

done = itertools.count(1)
finished = threading.Event()


@huey.task()
def noop(payload: object) -> None:
    if next(done) == count:
        finished.set()


for _ in range(count):
    noop(payload)

# One thread: on two cores two to sixteen threads were slower by a fifth to a third, because they queue up for one
# connection and its lock, and one to four processes were no faster. It never sleeps while there is work, so the delays
# do not matter; the periodic tasks and the health check are off because they could only take time.
consumer = huey.create_consumer(
    workers=1,
    worker_type="thread",
    periodic=False,
    initial_delay=0.001,
    max_delay=0.001,
    check_worker_health=False,
)
started = time.perf_counter()
consumer.start()
finished.wait()
print(time.perf_counter() - started)
consumer.stop(graceful=True)
