-- Prolong the leases that this worker still holds. :claims is an array of [id, claim]. What does not come back is lost;
-- what comes back with a 1 was cancelled meanwhile and should be stopped.
--
-- Rows are locked in the order of their ids, here as in settle_jobs.sql, so that two of these never wait for each other.
WITH named AS (
    SELECT (value->>0)::bigint AS id, (value->>1)::bigint AS claim FROM json_array_elements(:claims::json)
), held AS (
    SELECT job.id
      FROM job
      JOIN named ON job.id = named.id AND job.claim = named.claim
     WHERE job.id = ANY (ARRAY(SELECT id FROM named)) AND job.status = 'in_progress'
     ORDER BY job.id
       FOR NO KEY UPDATE OF job
)
UPDATE job
   SET lease_until = :now + lease
 WHERE job.id = ANY (ARRAY(SELECT id FROM held))
RETURNING job.id, job.claim, job.cancel_requested
