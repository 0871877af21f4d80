-- Jobs with a key whose time has come. They still have to become the candidate of their key, which the caller sees to.
UPDATE job
   SET waits_for = 'key'
 WHERE id IN (SELECT id FROM job
               WHERE status = 'queued' AND waits_for = 'time' AND run_at <= :now AND key IS NOT NULL
               ORDER BY run_at LIMIT 1000)
RETURNING org_id, key
