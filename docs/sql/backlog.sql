-- Q13: what waits, by kind.
SELECT kind, count(*) AS queued, min(date_created) AS oldest
  FROM queue_job
 WHERE status = 'queued'
 GROUP BY kind
 ORDER BY kind;
