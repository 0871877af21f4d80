-- Let the cache entry of a job name its artifact, and learn the entry's expiry: whatever the job made takes it over.
UPDATE render_cache
   SET artifact = coalesce(:artifact, artifact), short_link = coalesce(:link, short_link)
 WHERE job_id = (SELECT id FROM job WHERE uid = :job_uid)
RETURNING expires_at
