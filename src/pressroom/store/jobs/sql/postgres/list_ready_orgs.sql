-- The next :limit organisations that have ready jobs of one kind and tier, in the order of their names, from the one after :after
-- and round to it. One look into job_ready_of_org for each, however many there are and whatever they queued.
WITH RECURSIVE line (org_id, round, place) AS (
    SELECT :after::text COLLATE "C", 0, 0
    UNION ALL
    SELECT next.org_id, CASE WHEN next.org_id <= :after COLLATE "C" THEN 1 ELSE 0 END, line.place + 1
      FROM line
     CROSS JOIN LATERAL (SELECT CASE line.round
                                WHEN 0 THEN coalesce((SELECT min(job.org_id COLLATE "C") FROM job
                                                       WHERE kind = :kind AND tier = :tier AND status = 'queued'
                                                         AND waits_for IS NULL AND job.org_id COLLATE "C" > line.org_id),
                                                     (SELECT min(job.org_id COLLATE "C") FROM job
                                                       WHERE kind = :kind AND tier = :tier AND status = 'queued'
                                                         AND waits_for IS NULL AND job.org_id COLLATE "C" <= :after))
                                ELSE (SELECT min(job.org_id COLLATE "C") FROM job
                                       WHERE kind = :kind AND tier = :tier AND status = 'queued' AND waits_for IS NULL
                                         AND job.org_id COLLATE "C" > line.org_id AND job.org_id COLLATE "C" <= :after)
                                END AS org_id OFFSET 0) AS next
     WHERE line.place < :limit AND next.org_id IS NOT NULL
)
SELECT org_id FROM line WHERE place > 0 ORDER BY place
