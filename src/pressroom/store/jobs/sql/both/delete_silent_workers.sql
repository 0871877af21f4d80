DELETE FROM worker
 WHERE seen_at < :before AND NOT EXISTS (SELECT 1 FROM job WHERE job.status = 'in_progress' AND job.worker = worker.uid)
