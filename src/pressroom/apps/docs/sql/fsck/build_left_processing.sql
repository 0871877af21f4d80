-- A build that is being processed has a job that has not ended.
SELECT docs_build.job_uid, 'build ' || docs_build.uid || ' is processing, and its job is ' || coalesce(job.status, 'gone')
  FROM docs_build
  LEFT JOIN job ON job.uid = docs_build.job_uid
 WHERE docs_build.status = 'processing'
   AND (job.status IS NULL OR job.status NOT IN ('queued', 'in_progress'))
