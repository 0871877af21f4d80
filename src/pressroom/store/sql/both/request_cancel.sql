-- The cancel has won from here on: settle_jobs.sql lets no other ending through. The worker stops the work and settles.
UPDATE job SET cancel_requested = 1
 WHERE id = :id AND status IN ('queued', 'in_progress') AND cancel_requested = 0
RETURNING id
