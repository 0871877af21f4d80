"""Renews leases, in a thread of its own.

A handler may block the event loop for a minute. If leases were renewed on the loop, its job would be given to another worker,
where it would block again. Past its time limit a lease is not renewed, so that a hanging job is taken over.
"""

import logging
import threading
from collections.abc import Callable, Sequence

from pressroom.base.outages import Outage
from pressroom.errors import QueueClosed
from pressroom.store import Database
from pressroom.store.jobs import claiming, worker_records

log = logging.getLogger("pressroom.worker")

RENEWALS_PER_LEASE = 5  # three may be late or fail before the lease is lost


class LeaseKeeper:
    def __init__(
        self,
        database: Database,
        lease: float,
        leases_to_renew: Callable[[], Sequence[tuple[int, int]]],
        on_renewal: Callable[[dict[tuple[int, int], bool], Sequence[tuple[int, int]]], None],
        worker_record: Callable[[], worker_records.WorkerRecord],
        outage: Outage | None = None,
    ) -> None:
        self._database = database
        self._interval = lease / RENEWALS_PER_LEASE
        self._leases_to_renew = leases_to_renew
        self._on_renewal = on_renewal
        self._worker_record = worker_record
        self._outage = outage or Outage("the heartbeat", log)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pressroom-lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self._interval):
            try:
                self._renew()
                self._outage.record_success()
            except QueueClosed:
                return  # the database is closed: no lease can be renewed any more
            except Exception as reason:
                self._outage.record_failure(reason)  # the next renewal comes at its usual time

    def _renew(self) -> None:
        claims = self._leases_to_renew()
        if claims:
            renewed = self._database.run_from_thread(
                lambda: claiming.renew(claims), name="heartbeat", durable=False, shared_lock=True
            )
            self._on_renewal(renewed, claims)
        self._database.run_from_thread(
            lambda: worker_records.save_worker(self._worker_record()), name="heartbeat", durable=False, shared_lock=True
        )
