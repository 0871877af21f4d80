-- The cache entry that answers an input, with the link and the artifact that expire with it. Only reads: a hit costs no commit.
SELECT job.uid, render_cache.short_link, render_cache.artifact, render_cache.date_created, render_cache.expires_at,
       render_cache.last_used
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 WHERE render_cache.fingerprint = :fingerprint AND render_cache.expires_at > :now
   AND render_cache.artifact IS NOT NULL AND render_cache.short_link IS NOT NULL
