UPDATE job
   SET status = 'cancelled', waits_for = NULL, cancel_requested = 1, last_error = :reason,
       date_completed = :now, prune_after = :now + retention
 WHERE id = :id AND status = 'queued'
RETURNING id
