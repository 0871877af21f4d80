-- As failure_jobs.sql: the newest of a group.
SELECT job.id, job.uid, job.kind, job.org_id, job.subject, job.date_completed, job.errors, job_failure.print, job_failure.version
  FROM job_failure
  JOIN job ON job.id = job_failure.job_id
 WHERE job_failure.print = :print AND (:org_id IS NULL OR job.org_id = :org_id)
 ORDER BY job_failure.job_id DESC
 LIMIT :limit
