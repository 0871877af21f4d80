-- Only one that waits for its upload. A second call gets no row.
UPDATE docs_build
   SET status = 'processing', number = :number, job_uid = :job_uid, date_uploaded = :now
 WHERE uid = :uid AND status = 'pending' AND date_deleted IS NULL
RETURNING uid
