-- Take the jobs that a delivery named, each if it may start now. One whose time has come need not be woken first, unless it
-- has a key: then it must join the line. What another worker is taking is left alone.
--
-- Each is found by its name, one after the other: asked for all at once, the server goes through everything that waits instead.
WITH named AS (
    SELECT DISTINCT value AS uid FROM json_array_elements_text(:uids::json)
), chosen AS (
    SELECT ready.id
      FROM named
     CROSS JOIN LATERAL (SELECT job.id
                           FROM job
                          WHERE job.uid = named.uid AND status = 'queued' AND cancel_requested = 0
                            AND kind = ANY (ARRAY(SELECT json_array_elements_text(:kinds::json)))
                            AND (waits_for IS NULL OR (waits_for = 'time' AND run_at <= :now AND key IS NULL))
                            AND NOT EXISTS (SELECT 1
                                              FROM kind
                                             WHERE kind.name = job.kind
                                               AND (paused = 1 OR (slots IS NOT NULL AND :limited = 0)))
                            FOR NO KEY UPDATE OF job SKIP LOCKED) AS ready
)
UPDATE job
   SET status = 'in_progress', waits_for = NULL, claim = claim + 1, worker = :worker, lease = :lease,
       lease_until = :now + :lease, date_started = :now, phase = NULL, progress = NULL
 WHERE job.id = ANY (ARRAY(SELECT id FROM chosen))
RETURNING job.id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes, key, fingerprint, org_id,
          project_id, build_id, subject, parent, trace,
          (SELECT body FROM job_payload WHERE job_payload.job_id = job.id)
