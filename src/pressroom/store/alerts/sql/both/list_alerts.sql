-- Newest first: open ones, acknowledged ones, or both if NULL; of one organisation, or of all if NULL. The id below which to go
-- on is the cursor.
SELECT alert.id, alert.org_id, alert.kind, alert.subject, alert.code, alert.message, alert.count, alert.job_uid, alert.first_at,
       alert.last_at, alert.acked_by, alert.acked_at, job_failure.print
  FROM alert
  LEFT JOIN job_failure ON job_failure.job_id = alert.job_id
 WHERE alert.id < :before
   AND (:org_id IS NULL OR alert.org_id = :org_id)
   AND (:kind IS NULL OR alert.kind = :kind)
   AND (:open IS NULL OR (alert.acked_at IS NULL) = (:open = 1))
 ORDER BY alert.id DESC
 LIMIT :limit
