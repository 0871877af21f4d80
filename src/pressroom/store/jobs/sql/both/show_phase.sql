-- A new phase begins, with progress of its own. Fenced: no row comes back to a worker that lost its claim.
UPDATE job SET phase = :phase, progress = :progress
 WHERE id = :id AND claim = :claim AND status = 'in_progress'
RETURNING cancel_requested
