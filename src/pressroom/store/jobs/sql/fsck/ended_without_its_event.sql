-- An ended job whose history does not tell the same ending.
SELECT uid, 'status is ' || status || ', but its history has no such event'
  FROM job
 WHERE status NOT IN ('queued', 'in_progress')
   AND NOT EXISTS (SELECT 1 FROM job_event WHERE job_event.job_id = job.id AND job_event.type = job.status)
