-- A later render of the same input replaces the entry: its artifact is the newer one. A kept entry is not
-- replaced until it expires: its link, its source and what it answers stay together.
INSERT INTO render_cache (fingerprint, org_id, kind, fields, job_id, date_created, last_used, expires_at)
SELECT job.fingerprint, job.org_id, job.kind, job_input.fields, job.id, :now, :now, :now + job_input.cache_for
  FROM job
  JOIN job_input ON job_input.job_id = job.id
 WHERE job.id = :id AND job.fingerprint IS NOT NULL AND job_input.cache_for > 0
    ON CONFLICT (fingerprint) DO UPDATE
   SET job_id = excluded.job_id, fields = excluded.fields, hits = 0, kept_for = NULL,
       date_created = excluded.date_created, last_used = excluded.last_used, expires_at = excluded.expires_at
 WHERE render_cache.kept_for IS NULL OR render_cache.expires_at <= excluded.date_created
