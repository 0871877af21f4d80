UPDATE docs_build
   SET status = 'processing', error = NULL, date_completed = NULL, job_uid = :job_uid
 WHERE uid = :uid AND status = 'failed' AND number IS NOT NULL AND date_deleted IS NULL
RETURNING uid
