UPDATE docs_build
   SET status = 'failed', error = :error, date_completed = :now
 WHERE uid = :uid AND status IN ('pending', 'processing')
RETURNING uid
