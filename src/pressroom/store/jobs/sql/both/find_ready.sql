-- The next jobs of one kind and tier in the order of their places, and between which names their organisations lie: if these are
-- the same, there is one. Reads only the ready ones, through job_ready.
SELECT id, tier, seq, org_id, kind,
       (SELECT min(org_id) FROM job WHERE kind = :kind AND tier = :tier AND status = 'queued' AND waits_for IS NULL),
       (SELECT max(org_id) FROM job WHERE kind = :kind AND tier = :tier AND status = 'queued' AND waits_for IS NULL)
  FROM job
 WHERE kind = :kind AND tier = :tier AND status = 'queued' AND waits_for IS NULL
 ORDER BY seq
 LIMIT :limit
