-- A job that goes on although its history says that it ended.
SELECT uid, 'status is ' || status || ', but its history says ' || job_event.type
  FROM job
  JOIN job_event ON job_event.job_id = job.id
 WHERE status IN ('queued', 'in_progress')
   AND job_event.type IN ('completed', 'completed_with_errors', 'failed', 'cancelled')
