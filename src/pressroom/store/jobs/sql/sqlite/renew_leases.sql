-- Prolong the leases that this worker still holds. :claims is an array of [id, claim]. What does not come back is lost;
-- what comes back with a 1 was cancelled meanwhile and should be stopped.
UPDATE job
   SET lease_until = :now + lease
  FROM (SELECT value->>0 AS id, value->>1 AS claim FROM json_each(:claims)) AS held
 WHERE job.id = held.id AND job.claim = held.claim AND job.status = 'in_progress'
RETURNING job.id, job.claim, job.cancel_requested
