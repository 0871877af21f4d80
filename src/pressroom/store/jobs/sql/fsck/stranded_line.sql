-- Jobs of a key wait for their turn, but the key has no holder: none of them will ever start.
SELECT min(uid), 'key ' || key || ' has ' || count(*) || ' waiting jobs and no holder'
  FROM job
 WHERE status = 'queued' AND waits_for = 'key'
   AND NOT EXISTS (SELECT 1 FROM job AS holder
                    WHERE holder.org_id = job.org_id AND holder.key = job.key
                      AND (holder.status = 'in_progress' OR (holder.status = 'queued' AND holder.waits_for IS NULL)))
 GROUP BY org_id, key
