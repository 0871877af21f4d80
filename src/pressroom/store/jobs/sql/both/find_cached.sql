-- The completed job whose artifact answers this input. Expired is gone, whether or not it was swept yet.
--
-- While a job of the same key is open, nothing that ended earlier is the answer: the open one would end later and undo it. An
-- open job waits in its line or holds its key; both are looked up where only open jobs are.
SELECT job.id, job.uid, job.version
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 WHERE render_cache.fingerprint = :fingerprint AND render_cache.expires_at > :now
   AND (:key IS NULL
        OR (NOT EXISTS (SELECT 1 FROM job AS waiting
                         WHERE waiting.org_id = :org_id AND waiting.key = :key AND waiting.key IS NOT NULL
                           AND waiting.status = 'queued')
            AND NOT EXISTS (SELECT 1 FROM job AS holder
                             WHERE holder.org_id = :org_id AND holder.key = :key AND holder.key IS NOT NULL
                               AND (holder.status = 'in_progress' OR (holder.status = 'queued' AND holder.waits_for IS NULL)))))
