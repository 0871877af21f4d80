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
         WHERE /* matches_filter */
         ORDER BY id DESC
         LIMIT :limit) AS matching
 UNION ALL
SELECT *
  FROM (SELECT job_id, 0
          FROM job_failure
         WHERE print = :failure AND job_id < :before AND job_id >= :above
         ORDER BY job_id DESC
         LIMIT 1 OFFSET :most) AS unseen
