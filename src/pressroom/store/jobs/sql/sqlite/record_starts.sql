INSERT INTO job_event (job_id, at, type, data)
SELECT id, :now, 'started', json_object('attempt', failures + 1, 'worker', worker)
  FROM job
 WHERE id IN (SELECT value FROM json_each(:ids))
