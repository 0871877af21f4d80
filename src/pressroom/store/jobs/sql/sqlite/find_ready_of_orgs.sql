-- The next jobs of one kind and tier of each of these organisations, :limit of each.
SELECT job.id, job.tier, job.seq, job.org_id, job.kind
  FROM json_each(:orgs) AS org
 CROSS JOIN job
 WHERE job.id IN (SELECT next.id FROM job AS next
                   WHERE next.kind = :kind AND next.tier = :tier AND next.status = 'queued' AND next.waits_for IS NULL
                     AND next.org_id = org.value
                   ORDER BY next.seq
                   LIMIT :limit)
