-- Jobs without a key whose time has come. A thousand at most, so that no claim waits long.
UPDATE job
   SET waits_for = NULL
 WHERE id IN (SELECT id FROM job
               WHERE status = 'queued' AND waits_for = 'time' AND run_at <= :now AND key IS NULL
               ORDER BY run_at LIMIT 1000)
RETURNING id
