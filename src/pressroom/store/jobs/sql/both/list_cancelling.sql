-- Running jobs with a cancel requested.
SELECT id, claim FROM job WHERE cancel_requested = 1 AND status IN ('queued', 'in_progress') AND status = 'in_progress'
