-- Take the jobs that a delivery named, each if it may start now. One whose time has come need not be woken first, unless it
-- has a key: then it must join the line.
UPDATE job
   SET status = 'in_progress', waits_for = NULL, claim = claim + 1, worker = :worker, lease = :lease,
       lease_until = :now + :lease, date_started = :now, phase = NULL, progress = NULL
 WHERE uid IN (SELECT value FROM json_each(:uids))
   AND kind IN (SELECT value FROM json_each(:kinds))
   AND status = 'queued' AND cancel_requested = 0
   AND (waits_for IS NULL OR (waits_for = 'time' AND run_at <= :now AND key IS NULL))
   AND NOT EXISTS (SELECT 1 FROM kind WHERE kind.name = job.kind AND (paused = 1 OR (slots IS NOT NULL AND :limited = 0)))
RETURNING id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes, key, fingerprint, org_id,
          project_id, build_id, subject, parent, trace,
          (SELECT body FROM job_payload WHERE job_payload.job_id = job.id)
