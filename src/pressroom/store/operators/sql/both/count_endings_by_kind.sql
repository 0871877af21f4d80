-- How the jobs of each kind ended since :since. The :most latest are counted, and no more.
SELECT kind, count(*), count(*) FILTER (WHERE status = 'completed'), count(*) FILTER (WHERE status = 'completed_with_errors'),
       count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'cancelled'), min(date_completed)
  FROM (SELECT kind, status, date_completed
          FROM job
         WHERE date_completed >= :since AND (:org_id IS NULL OR org_id = :org_id)
         ORDER BY date_completed DESC
         LIMIT :most) AS ended
 GROUP BY kind
 ORDER BY kind
