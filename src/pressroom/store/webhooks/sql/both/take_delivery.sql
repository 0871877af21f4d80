-- Begin an attempt, for a job of the organisation that the delivery belongs to: naming another's delivery finds nothing.
-- A job that was retried by hand takes the delivery over from the one before it.
UPDATE webhook_delivery
   SET attempts = CASE WHEN job = :job THEN attempts + 1 ELSE 1 END,
       job = :job, state = 'waiting', date_attempted = :now, date_ended = NULL
 WHERE uid = :uid AND webhook IN (SELECT uid FROM webhook WHERE org_id = :org_id)
RETURNING webhook, type, facts, attempts, date_created
