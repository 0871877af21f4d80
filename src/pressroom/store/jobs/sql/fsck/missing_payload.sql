-- A job that no worker could run, because its payload is gone.
SELECT uid, 'has no payload'
  FROM job
 WHERE NOT EXISTS (SELECT 1 FROM job_payload WHERE job_payload.job_id = job.id)
