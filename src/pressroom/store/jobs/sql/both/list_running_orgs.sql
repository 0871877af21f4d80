-- Whose jobs are in progress.
SELECT org_id, kind FROM job WHERE status = 'in_progress'
