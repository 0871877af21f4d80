-- What waits, by kind and tier, with the age of the oldest.
SELECT kind, tier, count(*), count(*) FILTER (WHERE waits_for IS NULL), min(date_created)
  FROM job
 WHERE status IN ('queued', 'in_progress') AND status = 'queued'
 GROUP BY kind, tier
 ORDER BY kind, tier
