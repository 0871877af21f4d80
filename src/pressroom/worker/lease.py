"""Keeping leases alive, from a thread of its own.

A handler that keeps the event loop busy for a minute is rude, not dead; were the heartbeat on the loop, its job would be
taken away and run again, for ever. Past the time limit no lease is renewed, so that what truly hangs is taken over.
"""

import logging
import threading
from collections.abc import Callable, Sequence

from pressroom.errors import QueueClosed
from pressroom.outages import Outage
from pressroom.store import Database
from pressroom.store.jobs import jobs, maintenance

log = logging.getLogger("pressroom.worker")

BEATS_PER_LEASE = 5  # three beats may be late or lost before the lease is


class LeaseKeeper:
    def __init__(
        self,
        database: Database,
        lease: float,
        held: Callable[[], Sequence[tuple[int, int]]],
        report: Callable[[dict[tuple[int, int], bool], Sequence[tuple[int, int]]], None],
        card: Callable[[], maintenance.WorkerRecord],
        outage: Outage | None = None,
    ) -> None:
        self._database = database
        self._beat = lease / BEATS_PER_LEASE
        self._held = held
        self._report = report
        self._card = card
        self._outage = outage or Outage("the heartbeat", log)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pressroom-lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self._beat):
            try:
                self._renew()
                self._outage.recovered()
            except QueueClosed:
                return  # nothing that is held can be kept any longer
            except Exception as reason:
                self._outage.failed(reason)  # the next beat comes at its time all the same

    def _renew(self) -> None:
        claims = self._held()
        if claims:
            kept = self._database.run_from_thread(lambda: jobs.renew(claims), name="heartbeat", durable=False, shared_lock=True)
            self._report(kept, claims)
        self._database.run_from_thread(
            lambda: maintenance.save_worker(self._card()), name="heartbeat", durable=False, shared_lock=True
        )
