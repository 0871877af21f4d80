-- Whether any of the newest jobs that failed in this way is of the organisation.
SELECT kind
  FROM (SELECT job_id FROM job_failure WHERE print = :print ORDER BY job_id DESC LIMIT :most) AS newest
  JOIN job ON job.id = newest.job_id
 WHERE :org_id IS NULL OR job.org_id = :org_id
 LIMIT 1
