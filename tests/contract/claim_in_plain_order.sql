-- The claim as it was before organisations took turns: what test_fair_cost_postgres.py compares with.
-- What jobs.claim does on SQLite in several statements, in one: find the best that are ready, kind by kind through job_ready, as
-- many as there is room for, and take them under a lease. Paused kinds and those with a limit are left alone, and so is what
-- another worker is taking.
--
-- The rows are found again by an array of their ids: as a join, a plan made while the table was small reads all of it later.
WITH wanted AS (
    SELECT value AS kind
      FROM json_array_elements_text(:kinds::json)
     WHERE NOT EXISTS (SELECT 1 FROM kind WHERE kind.name = value AND (kind.paused = 1 OR kind.slots IS NOT NULL))
), found AS (
    SELECT ready.*
      FROM wanted
     CROSS JOIN LATERAL (SELECT id, tier, seq
                           FROM job
                          WHERE job.kind = wanted.kind AND status = 'queued' AND waits_for IS NULL AND tier = 0
                          ORDER BY seq
                          LIMIT :total
                            FOR NO KEY UPDATE SKIP LOCKED) AS ready
    UNION ALL
    SELECT ready.*
      FROM wanted
     CROSS JOIN LATERAL (SELECT id, tier, seq
                           FROM job
                          WHERE job.kind = wanted.kind AND status = 'queued' AND waits_for IS NULL AND tier = 1
                          ORDER BY seq
                          LIMIT :background
                            FOR NO KEY UPDATE SKIP LOCKED) AS ready
), placed AS (
    SELECT id, tier, seq, row_number() OVER (PARTITION BY tier ORDER BY seq) AS place FROM found
), chosen AS (
    SELECT id FROM placed WHERE tier = 0 OR place <= :background ORDER BY tier, seq LIMIT :total
)
UPDATE job
   SET status = 'in_progress', claim = claim + 1, worker = :worker, lease = :lease, lease_until = :now + :lease,
       date_started = :now, phase = NULL, progress = NULL
 WHERE job.id = ANY (ARRAY(SELECT id FROM chosen)) AND cancel_requested = 0
RETURNING id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes, key, fingerprint, org_id,
          project_id, build_id, subject, parent, trace,
          (SELECT body FROM job_payload WHERE job_payload.job_id = job.id)
