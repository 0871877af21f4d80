-- Q17: how many jobs of each organisation ended within the last hour, the busiest first. :now is in milliseconds.
SELECT org_id, count(*) AS ended,
       count(*) FILTER (WHERE status = 'completed') AS completed,
       count(*) FILTER (WHERE status = 'completed_with_errors') AS completed_with_errors,
       count(*) FILTER (WHERE status = 'failed') AS failed
  FROM queue_job
 WHERE date_completed >= :now - 3600000
 GROUP BY org_id
 ORDER BY ended DESC, org_id;
