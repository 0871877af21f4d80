-- What a job's page tells besides the job itself: when it goes, its promises, its group of failures, and its input.
SELECT job.retention, job.prune_after, job.on_key, job.max_crashes, job_failure.print, job_input.fields
  FROM job
  LEFT JOIN job_failure ON job_failure.job_id = job.id
  LEFT JOIN job_input ON job_input.job_id = job.id
 WHERE job.id = :id
