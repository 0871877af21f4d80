-- The next :limit jobs of each kind and tier in the order of their places, and between which names the organisations of that kind
-- and tier lie: if these are the same, there is one. Reads only the ready ones, through job_ready and job_ready_of_org.
SELECT next.id, next.tier, next.seq, next.org_id, kinds.kind, lie.first_org, lie.last_org
  FROM json_array_elements_text(:kinds::json) AS kinds (kind)
 CROSS JOIN (SELECT value::bigint FROM json_array_elements_text(:tiers::json)) AS tiers (tier)
 CROSS JOIN LATERAL (SELECT min(org_id COLLATE "C") AS first_org, max(org_id COLLATE "C") AS last_org
                       FROM job
                      WHERE job.kind = kinds.kind AND job.tier = tiers.tier AND status = 'queued' AND waits_for IS NULL) AS lie
 CROSS JOIN LATERAL (SELECT id, job.tier, seq, org_id
                       FROM job
                      WHERE job.kind = kinds.kind AND job.tier = tiers.tier AND status = 'queued' AND waits_for IS NULL
                      ORDER BY seq
                      LIMIT :limit) AS next
