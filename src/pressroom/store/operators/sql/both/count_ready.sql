-- How many of each kind and tier may start, counted no further than :most, and since when the first of them waits. Through
-- job_ready, where no kind stands behind another.
SELECT kind.name, tiers.tier,
       (SELECT count(*)
          FROM (SELECT 1 FROM job
                 WHERE job.kind = kind.name AND job.tier = tiers.tier AND job.status = 'queued' AND job.waits_for IS NULL
                   AND (:org_id IS NULL OR job.org_id = :org_id)
                 LIMIT :most) AS ready),
       (SELECT job.date_created FROM job
         WHERE job.kind = kind.name AND job.tier = tiers.tier AND job.status = 'queued' AND job.waits_for IS NULL
           AND (:org_id IS NULL OR job.org_id = :org_id)
         ORDER BY job.seq
         LIMIT 1),
       (SELECT job.run_at FROM job
         WHERE job.kind = kind.name AND job.tier = tiers.tier AND job.status = 'queued' AND job.waits_for IS NULL
           AND (:org_id IS NULL OR job.org_id = :org_id)
         ORDER BY job.seq
         LIMIT 1)
  FROM kind
 CROSS JOIN (SELECT 0 AS tier UNION ALL SELECT 1) AS tiers
 ORDER BY kind.name, tiers.tier
