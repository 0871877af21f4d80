SELECT job_shown.*, job_payload.body
  FROM job_shown
  JOIN job_payload ON job_payload.job_id = job_shown.id
 WHERE job_shown.uid = :uid
