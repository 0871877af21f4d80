-- What ended since :since, by kind, org and status.
SELECT kind, org_id, status, count(*), avg(date_completed - date_started)
  FROM job
 WHERE prune_after IS NOT NULL AND date_completed >= :since
 GROUP BY kind, org_id, status
 ORDER BY kind, org_id, status
