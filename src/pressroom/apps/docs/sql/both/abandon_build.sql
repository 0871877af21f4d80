-- Only while nothing has begun to process it: between a look at the list and this, its upload may have been announced.
UPDATE docs_build
   SET status = 'failed', error = :error, date_completed = :now
 WHERE uid = :uid AND status = 'pending'
RETURNING uid
