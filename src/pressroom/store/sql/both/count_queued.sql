-- How many jobs wait, counted no further than :limit.
SELECT count(*) FROM (SELECT 1 FROM job WHERE status IN ('queued', 'in_progress') AND status = 'queued' LIMIT :limit) AS counted
