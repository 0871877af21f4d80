-- Queued jobs that were cancelled by a process that does not know their kind's settling hook.
SELECT id, kind, org_id, key, last_error
  FROM job
 WHERE cancel_requested = 1 AND status IN ('queued', 'in_progress') AND status = 'queued'
 LIMIT 500
