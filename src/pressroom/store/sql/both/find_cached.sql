-- The completed job whose artifact answers this input. Expired is gone, whether or not it was swept yet.
--
-- While a job of the same key is open, nothing that ended earlier is the answer: the open one would end later and undo it.
SELECT job.id, job.uid, job.version
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 WHERE render_cache.fingerprint = :fingerprint AND render_cache.expires_at > :now
   AND (:key IS NULL
        OR NOT EXISTS (SELECT 1 FROM job AS busy
                        WHERE busy.key = :key AND busy.org_id = :org_id AND busy.status IN ('queued', 'in_progress')))
