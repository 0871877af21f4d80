-- How jobs ended since :since, by kind, status and minute. The :most latest of all organisations are read, and no more: one
-- organisation's are counted among those, however many others there are. The last count is of all organisations.
SELECT kind, status, (date_completed - :since) / 60000 AS minute,
       count(*) FILTER (WHERE :org_id IS NULL OR org_id = :org_id), min(date_completed), count(*)
  FROM (SELECT kind, status, org_id, date_completed
          FROM job
         WHERE date_completed >= :since
         ORDER BY date_completed DESC
         LIMIT :most) AS ended
 GROUP BY kind, status, minute
