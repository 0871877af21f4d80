SELECT min(run_at) FROM job WHERE status = 'queued' AND waits_for = 'time'
