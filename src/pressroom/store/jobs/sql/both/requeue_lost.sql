-- Give a silent worker's job back to the queue. It keeps its place; the crash is counted, not the attempt.
UPDATE job
   SET status = 'queued', lease_until = NULL, crashes = crashes + 1, run_at = :run_at,
       waits_for = CASE WHEN :run_at > :now THEN 'time' WHEN key IS NOT NULL THEN 'key' END
 WHERE id = :id AND status = 'in_progress'
