-- Fenced, as all that a worker writes.
UPDATE job SET progress = :progress
 WHERE id = :id AND claim = :claim AND status = 'in_progress'
RETURNING cancel_requested
