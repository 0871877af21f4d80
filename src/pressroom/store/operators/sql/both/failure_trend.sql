-- One group by the versions that were at work, and for each the bar of the chart that it is in. The :most newest are counted.
SELECT version, (date_completed - :since) / :step AS bar, count(*), max(date_completed), min(job_id)
  FROM (SELECT job_failure.job_id, job_failure.version, job.date_completed
          FROM job_failure
          JOIN job ON job.id = job_failure.job_id
         WHERE job_failure.print = :print AND (:org_id IS NULL OR job.org_id = :org_id)
         ORDER BY job_failure.job_id DESC
         LIMIT :most) AS newest
 WHERE date_completed >= :since
 GROUP BY version, bar
