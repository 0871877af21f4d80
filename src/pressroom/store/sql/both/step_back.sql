-- First half of reseating a key: the job that may start next makes way for a better one of its line.
UPDATE job
   SET waits_for = 'key'
 WHERE org_id = :org_id AND key = :key AND status = 'queued' AND waits_for IS NULL
   AND EXISTS (SELECT 1 FROM job AS better
                WHERE better.org_id = :org_id AND better.key = :key AND better.status = 'queued' AND better.waits_for = 'key'
                  AND (better.tier, better.seq) < (job.tier, job.seq))
