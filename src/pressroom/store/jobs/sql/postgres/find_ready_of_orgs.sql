-- The next jobs of one kind and tier of each of these organisations, :limit of each.
SELECT ready.id, ready.tier, ready.seq, ready.org_id, ready.kind
  FROM json_array_elements_text(:orgs::json) AS org
 CROSS JOIN LATERAL (SELECT job.id, job.tier, job.seq, job.org_id, job.kind
                       FROM job
                      WHERE kind = :kind AND tier = :tier AND status = 'queued' AND waits_for IS NULL
                        AND job.org_id COLLATE "C" = org.value
                      ORDER BY job.seq
                      LIMIT :limit) AS ready
