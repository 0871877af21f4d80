-- End a silent worker's job for good: it was cancelled, it crashed too often, or a newer payload took over.
UPDATE job
   SET status = :status, lease_until = NULL, crashes = crashes + 1, last_error = :message, superseded_by = :superseded_by,
       errors = json_insert(coalesce(errors, '[]'), '$[#]', json(:error)),
       date_completed = :now, prune_after = :now + retention
 WHERE id = :id AND status = 'in_progress'
