-- Forget workers that are known to be dead and hold nothing any more.
DELETE FROM worker
 WHERE uid IN (SELECT value FROM json_each(:dead))
   AND NOT EXISTS (SELECT 1 FROM job WHERE job.status = 'in_progress' AND job.worker = worker.uid)
