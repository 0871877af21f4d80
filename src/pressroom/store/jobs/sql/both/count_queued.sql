-- How many jobs wait, counted no further than :limit.
SELECT count(*) FROM (SELECT 1 FROM job WHERE status = 'queued' LIMIT :limit) AS counted
