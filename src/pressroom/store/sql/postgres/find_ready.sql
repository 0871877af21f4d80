-- The next jobs of one kind between two tiers, best first. Reads only the ready ones, through job_ready.
--
-- They are locked, and those that another worker is about to take are passed over.
SELECT id, tier, seq
  FROM job
 WHERE kind = :kind AND status = 'queued' AND waits_for IS NULL AND tier BETWEEN :best AND :worst
 ORDER BY tier, seq
 LIMIT :limit
   FOR NO KEY UPDATE SKIP LOCKED
