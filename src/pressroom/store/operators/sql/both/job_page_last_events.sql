-- The end of a history, newest first. `events_of_job` has its beginning; the lines between are not shown.
SELECT job_event.id, job_event.job_id, job.uid, job_event.at, job_event.type, job_event.data
  FROM job_event
  JOIN job ON job.id = job_event.job_id
 WHERE job_event.job_id = :job_id AND job_event.id > :after
 ORDER BY job_event.id DESC
 LIMIT :limit
