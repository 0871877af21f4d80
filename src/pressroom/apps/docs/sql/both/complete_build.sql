-- One that is complete already was processed again: its error is that of the last time.
UPDATE docs_build
   SET status = 'completed', error = :error, date_completed = coalesce(date_completed, :now)
 WHERE uid = :uid AND status IN ('processing', 'completed') AND artifact IS NOT NULL
RETURNING uid
