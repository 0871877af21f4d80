-- A job with two endings gave two answers.
SELECT uid, 'has ' || count(*) || ' endings'
  FROM job
  JOIN job_event ON job_event.job_id = job.id
 WHERE job_event.type IN ('completed', 'completed_with_errors', 'failed', 'cancelled')
 GROUP BY job.id
HAVING count(*) > 1
