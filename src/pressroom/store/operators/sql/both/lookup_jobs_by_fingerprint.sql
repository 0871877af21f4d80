-- The job that rendered an input and is kept in the cache, and those that render it now.
SELECT job.uid, job.kind, job.status, job.subject
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 WHERE render_cache.fingerprint = :fingerprint AND (:org_id IS NULL OR job.org_id = :org_id)
UNION
SELECT uid, kind, status, subject
  FROM job
 WHERE fingerprint = :fingerprint AND status IN ('queued', 'in_progress') AND (:org_id IS NULL OR org_id = :org_id)
 ORDER BY 1
 LIMIT :limit
