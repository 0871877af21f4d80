-- The cancel has won from here on: settle_jobs.sql lets no other ending through, and a queued job is ready no more. The unit that
-- runs it, or knows how to end it, does the rest.
UPDATE job
   SET cancel_requested = 1, last_error = :reason, waits_for = CASE WHEN status = 'queued' THEN 'cancel' END
 WHERE id = :id AND status IN ('queued', 'in_progress') AND cancel_requested = 0
RETURNING id
