-- The completed job whose artifact answers this input. Expired is gone, whether or not it was swept yet.
SELECT job.id, job.uid, job.version
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 WHERE render_cache.fingerprint = :fingerprint AND render_cache.expires_at > :now
