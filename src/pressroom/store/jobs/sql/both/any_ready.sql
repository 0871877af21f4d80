-- Whether a job of this kind may start. Locks nothing, as find_ready.sql may.
SELECT 1 FROM job WHERE kind = :kind AND status = 'queued' AND waits_for IS NULL LIMIT 1
