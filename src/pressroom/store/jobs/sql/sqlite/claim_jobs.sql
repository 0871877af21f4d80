-- Take jobs under a lease. The token grows with every claim, and each later write of this worker must name it.
--
-- The WHERE repeats that they are ready: between looking and taking, another worker may have been quicker.
UPDATE job
   SET status = 'in_progress', claim = claim + 1, worker = :worker, lease = :lease, lease_until = :now + :lease,
       date_started = :now, phase = NULL, progress = NULL
 WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'queued' AND waits_for IS NULL AND cancel_requested = 0
RETURNING id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes, key, fingerprint, org_id,
          project_id, build_id, subject, parent, trace,
          (SELECT body FROM job_payload WHERE job_payload.job_id = job.id)
