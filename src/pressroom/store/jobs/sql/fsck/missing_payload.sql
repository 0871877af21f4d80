-- A job that nobody could run, because what it should work on is gone.
SELECT uid, 'has no payload'
  FROM job
 WHERE NOT EXISTS (SELECT 1 FROM job_payload WHERE job_payload.job_id = job.id)
