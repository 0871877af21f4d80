-- Q16: how many of the last hour's jobs failed or were completed with errors. :now is in milliseconds.
SELECT kind, count(*) AS ended,
       count(*) FILTER (WHERE status IN ('failed', 'completed_with_errors')) AS errors,
       round(100.0 * count(*) FILTER (WHERE status IN ('failed', 'completed_with_errors')) / count(*), 1) AS percent
  FROM queue_job
 WHERE status IN ('completed', 'completed_with_errors', 'failed') AND date_completed >= :now - 3600000
 GROUP BY kind
 ORDER BY kind;
