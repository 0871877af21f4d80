-- Something was written about a job after it had ended.
SELECT uid, later.type || ' came after ' || ending.type
  FROM job
  JOIN job_event AS ending ON ending.job_id = job.id
   AND ending.type IN ('completed', 'completed_with_errors', 'failed', 'cancelled')
  JOIN job_event AS later ON later.job_id = job.id AND later.id > ending.id
