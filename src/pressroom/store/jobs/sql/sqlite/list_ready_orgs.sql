-- The next :limit organisations that have ready jobs of one kind and tier, in the order of their names, from the one after :after
-- and round to it. One look into job_ready_of_org for each, however many there are and whatever they queued.
WITH RECURSIVE line (org_id, place) AS (
    SELECT :after, 0
    UNION ALL
    SELECT CASE WHEN line.place > 0 AND line.org_id <= :after
                THEN (SELECT min(job.org_id) FROM job
                       WHERE kind = :kind AND tier = :tier AND status = 'queued' AND waits_for IS NULL
                         AND job.org_id > line.org_id AND job.org_id <= :after)
                ELSE coalesce((SELECT min(job.org_id) FROM job
                                WHERE kind = :kind AND tier = :tier AND status = 'queued' AND waits_for IS NULL
                                  AND job.org_id > line.org_id),
                              (SELECT min(job.org_id) FROM job
                                WHERE kind = :kind AND tier = :tier AND status = 'queued' AND waits_for IS NULL
                                  AND job.org_id <= :after)) END,
           line.place + 1
      FROM line
     WHERE line.org_id IS NOT NULL AND line.place < :limit
)
SELECT org_id FROM line WHERE place > 0 AND org_id IS NOT NULL
