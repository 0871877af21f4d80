SELECT job.uid, job.status, job.kind, job.tier, job.max_attempts, job.max_crashes, job.retention, job.on_key, job.key, job.org_id,
       job.project_id, job.build_id, job.subject, job.parent, job_payload.body
  FROM job
  JOIN job_payload ON job_payload.job_id = job.id
 WHERE job.uid = :uid
