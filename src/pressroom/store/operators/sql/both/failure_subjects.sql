-- The subjects with most failures of a group. The :most newest are counted.
SELECT subject, org_id, count(*), max(date_completed)
  FROM (SELECT job.subject, job.org_id, job.date_completed
          FROM job_failure
          JOIN job ON job.id = job_failure.job_id
         WHERE job_failure.print = :print AND (:org_id IS NULL OR job.org_id = :org_id)
         ORDER BY job_failure.job_id DESC
         LIMIT :most) AS newest
 WHERE date_completed >= :since
 GROUP BY subject, org_id
 ORDER BY count(*) DESC, max(date_completed) DESC
 LIMIT :limit
