-- The open jobs of a key, in the order in which they run. The two halves are read where only open jobs are: the one in progress
-- among the holders (the condition is that of the index), the others in their line.
SELECT uid, status, waits_for, subject, date_created
  FROM (SELECT uid, status, waits_for, subject, date_created, -1 AS tier, 0 AS seq
          FROM job
         WHERE org_id = :org_id AND key = :key AND key IS NOT NULL AND status = 'in_progress'
           AND (status = 'in_progress' OR (status = 'queued' AND waits_for IS NULL))
         UNION ALL
        SELECT uid, status, waits_for, subject, date_created, tier, seq
          FROM (SELECT uid, status, waits_for, subject, date_created, tier, seq
                  FROM job
                 WHERE org_id = :org_id AND key = :key AND key IS NOT NULL AND status = 'queued'
                 ORDER BY tier, seq
                 LIMIT :limit) AS waiting) AS line
 ORDER BY tier, seq
