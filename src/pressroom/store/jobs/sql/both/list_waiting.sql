-- The first jobs of a kind that may start now, as list_notices.sql tells of them.
SELECT uid, kind, tier, (SELECT body FROM job_payload WHERE job_id = job.id AND :with_payload = 1)
  FROM job
 WHERE kind = :kind AND status = 'queued' AND waits_for IS NULL
 ORDER BY tier, seq
 LIMIT :limit
