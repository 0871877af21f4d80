-- Take jobs under a lease. The token grows with every claim, and each later write of this worker must name it.
--
-- The WHERE repeats that they are ready: between looking and taking, another worker may have been quicker. In its words no
-- index of what is queued is of use: with one, the server goes through everything that waits.
UPDATE job
   SET status = 'in_progress', claim = claim + 1, worker = :worker, lease = :lease, lease_until = :now + :lease,
       date_started = :now, phase = NULL, progress = NULL
 WHERE id = ANY (ARRAY(SELECT value::bigint FROM json_array_elements_text(:ids::json)))
   AND coalesce(status, '') = 'queued' AND coalesce(waits_for, '') = '' AND cancel_requested = 0
RETURNING id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes, key, fingerprint, org_id,
          project_id, build_id, subject, parent, trace,
          (SELECT body FROM job_payload WHERE job_payload.job_id = job.id)
