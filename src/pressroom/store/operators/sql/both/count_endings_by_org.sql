-- How each organisation's jobs ended since :since, the busiest first. The :most latest are counted, and no more.
-- The last three are of all organisations: how many there are, how many of their jobs were counted, and since when.
SELECT org_id, count(*), count(*) FILTER (WHERE status = 'completed'), count(*) FILTER (WHERE status = 'completed_with_errors'),
       count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'cancelled'),
       count(*) OVER (), sum(count(*)) OVER (), min(min(date_completed)) OVER ()
  FROM (SELECT org_id, status, date_completed
          FROM job
         WHERE date_completed >= :since AND (:org_id IS NULL OR org_id = :org_id)
         ORDER BY date_completed DESC
         LIMIT :most) AS ended
 GROUP BY org_id
 ORDER BY 3 DESC, 2 DESC, org_id
 LIMIT :limit
