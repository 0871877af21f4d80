-- Which jobs match, newest first. The :most newest are looked at and no others, so that a rare one costs no more than that.
-- A row with 0 is the first that was not looked at.
SELECT *
  FROM (SELECT id, 1
          FROM (SELECT id, status, kind, tier, org_id, subject, key, parent, worker, date_created
                  FROM job
                 WHERE id < :before AND id >= :above
                 ORDER BY id DESC
                 LIMIT :most) AS seen
         WHERE (:statuses IS NULL OR :statuses LIKE '%,' || status || ',%')
           AND (:kind IS NULL OR kind = :kind) AND (:tier IS NULL OR tier = :tier) AND (:org_id IS NULL OR org_id = :org_id)
           AND (:subject IS NULL OR subject = :subject) AND (:key IS NULL OR key = :key)
           AND (:parent IS NULL OR parent = :parent) AND (:worker IS NULL OR worker = :worker)
           AND (:since IS NULL OR date_created >= :since) AND (:until IS NULL OR date_created < :until)
           AND (:failure IS NULL OR EXISTS (SELECT 1 FROM job_failure WHERE job_failure.job_id = seen.id AND print = :failure))
         ORDER BY id DESC
         LIMIT :limit) AS matching
 UNION ALL
SELECT *
  FROM (SELECT id, 0
          FROM job
         WHERE id < :before AND id >= :above
         ORDER BY id DESC
         LIMIT 1 OFFSET :most) AS unseen
