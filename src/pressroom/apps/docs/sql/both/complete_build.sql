UPDATE docs_build
   SET status = 'completed', error = :error, date_completed = :now
 WHERE uid = :uid AND status = 'processing'
RETURNING uid
