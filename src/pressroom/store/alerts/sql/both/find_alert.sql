-- With the group of failures of its job, if that is still kept.
SELECT alert.id, alert.org_id, alert.kind, alert.subject, alert.code, alert.message, alert.count, alert.job_uid, alert.first_at,
       alert.last_at, alert.acked_by, alert.acked_at, job_failure.print
  FROM alert
  LEFT JOIN job_failure ON job_failure.job_id = alert.job_id
 WHERE alert.id = :id
