-- The cache entry of an input, whichever job made it.
SELECT job.uid, render_cache.hits, render_cache.date_created, render_cache.expires_at
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 WHERE render_cache.fingerprint = :fingerprint
