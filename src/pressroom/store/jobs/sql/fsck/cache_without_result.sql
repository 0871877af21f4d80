-- A cache entry that would answer with the result of a job that has none.
SELECT job.uid, 'the cache answers with it, but its status is ' || job.status
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 WHERE job.status <> 'completed' OR job.fingerprint IS NULL OR job.fingerprint <> render_cache.fingerprint
