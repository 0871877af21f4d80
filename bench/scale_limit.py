"""The raw limit: what PostgreSQL allows a bare loop over psycopg, on a row of about our shape and nothing around it.

One transaction, sent in one round trip, settles the last batch and claims the next. There is no history, no key, no event loop,
no handler: what a queue adds to this is what it costs.
"""

import asyncio
import time
from typing import Any
from uuid import uuid4

import psycopg

from bench.peers import course

BATCH = 400
BODY = f'{{"text":"{course.PAYLOAD["text"]}"}}'

TABLES = """
CREATE TABLE job (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uid            TEXT NOT NULL,
    kind           TEXT NOT NULL,
    tier           BIGINT NOT NULL,
    run_at         BIGINT NOT NULL,
    status         TEXT NOT NULL,
    failures       BIGINT NOT NULL DEFAULT 0,
    max_attempts   BIGINT NOT NULL DEFAULT 3,
    claim          BIGINT NOT NULL DEFAULT 0,
    worker         TEXT,
    lease_until    BIGINT,
    org_id         TEXT NOT NULL DEFAULT '',
    result         TEXT,
    last_error     TEXT,
    retention      BIGINT NOT NULL DEFAULT 0,
    date_created   BIGINT NOT NULL,
    date_started   BIGINT,
    date_completed BIGINT
);
CREATE TABLE job_payload (job_id BIGINT PRIMARY KEY, body TEXT NOT NULL);
CREATE UNIQUE INDEX job_uid ON job (uid);
CREATE INDEX job_ready ON job (kind, tier, id) WHERE status = 'queued';
CREATE INDEX job_running ON job (id) WHERE status = 'in_progress';
"""
INSERT = """
WITH new AS (
    INSERT INTO job (uid, kind, tier, run_at, status, date_created)
    SELECT uid, 'noop', 1, 0, 'queued', 0 FROM unnest(%s::text[]) AS uid
    RETURNING id
), bodies AS (INSERT INTO job_payload SELECT id, %s FROM new)
SELECT pg_notify('job', '')
"""
SETTLE = """
UPDATE job SET status = 'completed', result = 'null', lease_until = NULL, date_completed = %s
  FROM unnest(%s::bigint[], %s::bigint[]) AS done (id, claim)
 WHERE job.id = done.id AND job.claim = done.claim AND status = 'in_progress'
"""
CLAIM = """
UPDATE job
   SET status = 'in_progress', claim = claim + 1, worker = 'limit', lease_until = %s, date_started = %s
 WHERE id = ANY (ARRAY(SELECT id FROM job WHERE kind = 'noop' AND status = 'queued' ORDER BY tier, id
                        LIMIT %s FOR UPDATE SKIP LOCKED))
RETURNING id, claim, (SELECT body FROM job_payload WHERE job_id = job.id)
"""


class Limit(course.Queue):
    quick_loop = False

    async def open(self) -> None:
        self._connection = psycopg.connect(course.POSTGRES, autocommit=True, prepare_threshold=0)

    async def prepare(self) -> None:
        await self.open()
        self._connection.execute(TABLES, prepare=False)

    async def submit(self) -> None:
        await self.submit_many(1)

    async def submit_many(self, count: int) -> None:
        self._connection.execute(INSERT, ([uuid4().hex for _ in range(count)], BODY))

    async def work(self) -> None:
        await asyncio.to_thread(self._work)

    async def left(self) -> int:
        found = self._connection.execute("SELECT count(*) FROM job WHERE status <> 'completed'").fetchone()
        assert found is not None
        return int(found[0])

    def _work(self) -> None:
        with psycopg.connect(course.POSTGRES, autocommit=True, prepare_threshold=0) as connection:
            connection.execute("LISTEN job")
            claims: list[Any] = []
            while True:
                claims = _turn(connection, claims)
                for _ in claims:
                    self.begun()
                if not claims:
                    next(connection.notifies(stop_after=1), None)


def _turn(connection: "psycopg.Connection[Any]", finished: list[Any]) -> list[Any]:
    now = int(time.time() * 1000)
    with connection.pipeline():
        connection.execute("BEGIN")
        if finished:
            connection.execute(SETTLE, (now, [row[0] for row in finished], [row[1] for row in finished]))
        claimed = connection.execute(CLAIM, (now + 15_000, now, BATCH))
        connection.execute("COMMIT")
    return claimed.fetchall()


if __name__ == "__main__":
    course.run(Limit())
