-- As search_jobs.sql, for jobs that failed alike.
SELECT *
  FROM (SELECT id, 1
          FROM (SELECT id, status, kind, tier, org_id, subject, key, parent, worker, date_created
                  FROM (SELECT job_id
                          FROM job_failure
                         WHERE print = :failure AND job_id < :before AND job_id >= :above
                         ORDER BY job_id DESC
                         LIMIT :most) AS alike
                 CROSS JOIN job
                 WHERE job.id = alike.job_id) AS seen
         WHERE (:statuses IS NULL OR :statuses LIKE '%,' || status || ',%')
           AND (:kind IS NULL OR kind = :kind) AND (:tier IS NULL OR tier = :tier) AND (:org_id IS NULL OR org_id = :org_id)
           AND (:subject IS NULL OR subject = :subject) AND (:key IS NULL OR key = :key)
           AND (:parent IS NULL OR parent = :parent) AND (:worker IS NULL OR worker = :worker)
           AND (:since IS NULL OR date_created >= :since) AND (:until IS NULL OR date_created < :until)
         ORDER BY id DESC
         LIMIT :limit) AS matching
 UNION ALL
SELECT *
  FROM (SELECT job_id, 0
          FROM job_failure
         WHERE print = :failure AND job_id < :before AND job_id >= :above
         ORDER BY job_id DESC
         LIMIT 1 OFFSET :most) AS unseen
