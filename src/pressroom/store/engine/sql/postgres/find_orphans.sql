-- The server itself keeps all other references.
SELECT 'job_event', id, 'job', 0
  FROM job_event
 WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.id = job_event.job_id)
 ORDER BY id
 LIMIT 100
