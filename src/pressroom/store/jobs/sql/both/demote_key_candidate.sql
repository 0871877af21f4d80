-- First half of reseating a key: the job that may start next makes way for a better one of its line.
-- The holder is found by its own index (the plus signs keep it to that), and the line is asked for its first only: one of ten
-- thousand costs no more than one of two.
UPDATE job
   SET waits_for = 'key'
 WHERE org_id = :org_id AND key = :key AND key IS NOT NULL
   AND (status = 'in_progress' OR (status = 'queued' AND waits_for IS NULL))
   AND status = 'queued'
   AND (+tier, +seq) > (SELECT best.tier, best.seq FROM job AS best
                       WHERE best.org_id = :org_id AND best.key = :key AND best.key IS NOT NULL
                         AND best.status = 'queued' AND best.waits_for = 'key'
                       ORDER BY best.tier, best.seq
                       LIMIT 1)
