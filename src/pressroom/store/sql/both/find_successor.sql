-- A newer payload of the same kind and key that waits behind this job.
SELECT uid
  FROM job
 WHERE org_id = :org_id AND key = :key AND kind = :kind AND status = 'queued' AND cancel_requested = 0 AND id <> :id
 ORDER BY seq DESC
 LIMIT 1
