-- Some jobs that failed, with what went wrong.
SELECT job.id, job.uid, job.kind, job.org_id, job.subject, job.date_completed, job.errors, job_failure.print, job_failure.version
  FROM job
  JOIN job_failure ON job_failure.job_id = job.id
 WHERE job.id IN (SELECT value FROM json_each(:ids))
