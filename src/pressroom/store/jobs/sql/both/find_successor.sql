-- A newer payload of the same kind and key that waits behind this job, and takes over if it is not done at once.
SELECT newer.uid
  FROM job
  JOIN job AS newer ON newer.org_id = job.org_id AND newer.key = job.key AND newer.kind = job.kind
   AND newer.status = 'queued' AND newer.cancel_requested = 0 AND newer.id <> job.id
 WHERE job.id = :id AND job.on_key = 'coalesce'
 ORDER BY newer.seq DESC
 LIMIT 1
