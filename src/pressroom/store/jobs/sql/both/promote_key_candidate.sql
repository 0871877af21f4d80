-- Second half: the best job of the line may start, if none of its key is in progress or may start already.
UPDATE job
   SET waits_for = NULL
 WHERE id = (SELECT id FROM job
              WHERE org_id = :org_id AND key = :key AND status = 'queued' AND waits_for = 'key'
              ORDER BY tier, seq LIMIT 1)
   AND NOT EXISTS (SELECT 1 FROM job AS holder
                    WHERE holder.org_id = :org_id AND holder.key = :key
                      AND (holder.status = 'in_progress' OR (holder.status = 'queued' AND holder.waits_for IS NULL)))
