-- Whether the time of a job has come that then has to stand in the line of its key.
SELECT 1 FROM job WHERE status = 'queued' AND waits_for = 'time' AND run_at <= :now AND key IS NOT NULL LIMIT 1
