-- Only one that still waits for its upload: it may have come since the build was looked up.
UPDATE docs_build
   SET status = 'failed', error = :error, date_completed = :now
 WHERE uid = :uid AND status = 'pending'
RETURNING uid
