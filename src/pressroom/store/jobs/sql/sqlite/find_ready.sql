-- The next :limit jobs of each kind and tier in the order of their places, and between which names the organisations of that kind
-- and tier lie: if these are the same, there is one. Reads only the ready ones, through job_ready and job_ready_of_org.
WITH wanted (kind, tier, first_org, last_org) AS MATERIALIZED (
    SELECT kinds.value, tiers.value,
           (SELECT min(org_id) FROM job
             WHERE kind = kinds.value AND tier = tiers.value AND status = 'queued' AND waits_for IS NULL),
           (SELECT max(org_id) FROM job
             WHERE kind = kinds.value AND tier = tiers.value AND status = 'queued' AND waits_for IS NULL)
      FROM json_each(:kinds) AS kinds
     CROSS JOIN json_each(:tiers) AS tiers
)
SELECT job.id, job.tier, job.seq, job.org_id, job.kind, wanted.first_org, wanted.last_org
  FROM wanted
 CROSS JOIN job
 WHERE wanted.first_org IS NOT NULL
   AND job.id IN (SELECT next.id FROM job AS next
                   WHERE next.kind = wanted.kind AND next.tier = wanted.tier AND next.status = 'queued' AND next.waits_for IS NULL
                   ORDER BY next.seq
                   LIMIT :limit)
