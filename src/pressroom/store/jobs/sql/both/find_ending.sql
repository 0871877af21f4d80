-- What a kind's settling hook is told about the job that just ended.
SELECT job.id, job.uid, job.status, job.version, job.result, job.errors, job_payload.body, job.key, job.org_id, job.subject
  FROM job
  JOIN job_payload ON job_payload.job_id = job.id
 WHERE job.id = :id
