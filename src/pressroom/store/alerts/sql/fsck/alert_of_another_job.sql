-- An alert whose job did not fail, or is of another kind or organisation.
SELECT job.uid, 'alert ' || alert.id || ' names it, but it is ' || job.status || ', of kind ' || job.kind
  FROM alert
  JOIN job ON job.uid = alert.job_uid
 WHERE job.status <> 'failed' OR job.kind <> alert.kind OR job.org_id <> alert.org_id OR job.id <> alert.job_id
