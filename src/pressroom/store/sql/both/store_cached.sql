-- A later render of the same input replaces the entry: its artifact is the newer one.
INSERT INTO render_cache (fingerprint, org_id, kind, fields, job_id, date_created, expires_at)
SELECT job.fingerprint, job.org_id, job.kind, job_input.fields, job.id, :now, :now + job_input.cache_for
  FROM job
  JOIN job_input ON job_input.job_id = job.id
 WHERE job.id = :id AND job.fingerprint IS NOT NULL AND job_input.cache_for > 0
    ON CONFLICT (fingerprint) DO UPDATE
   SET job_id = excluded.job_id, fields = excluded.fields, hits = 0,
       date_created = excluded.date_created, expires_at = excluded.expires_at
