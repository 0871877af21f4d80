-- What waits, by kind and tier, with when the oldest came and since when the oldest of those that are ready may start.
SELECT kind, tier, count(*), count(*) FILTER (WHERE waits_for IS NULL), min(date_created),
       min(CASE WHEN run_at > date_created THEN run_at ELSE date_created END) FILTER (WHERE waits_for IS NULL)
  FROM job
 WHERE status IN ('queued', 'in_progress') AND status = 'queued'
 GROUP BY kind, tier
 ORDER BY kind, tier
