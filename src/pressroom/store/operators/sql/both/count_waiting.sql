-- What waits, by kind and tier. The :most oldest are counted, and no more: a look must not take longer than a long queue is worth.
-- `ready` have only been waiting for a worker, and since when tells how far workers are behind.
SELECT kind, tier, count(*), count(*) FILTER (WHERE waits_for IS NULL), min(date_created),
       min(run_at) FILTER (WHERE waits_for IS NULL)
  FROM (SELECT kind, tier, waits_for, date_created, run_at
          FROM job
         WHERE status IN ('queued', 'in_progress') AND status = 'queued' AND (:org_id IS NULL OR org_id = :org_id)
         ORDER BY id
         LIMIT :most) AS waiting
 GROUP BY kind, tier
 ORDER BY kind, tier
