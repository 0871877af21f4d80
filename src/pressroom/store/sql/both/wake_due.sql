-- Jobs whose time has come. A keyed one still has its line to stand in. A thousand at most, so that no claim waits long.
UPDATE job
   SET waits_for = CASE WHEN key IS NULL THEN NULL ELSE 'key' END
 WHERE id IN (SELECT id FROM job
               WHERE status = 'queued' AND waits_for = 'time' AND run_at <= :now
               ORDER BY run_at LIMIT 1000)
RETURNING org_id, key
