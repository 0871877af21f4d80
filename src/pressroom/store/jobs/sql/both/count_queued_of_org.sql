-- How many jobs of one organisation wait, counted no further than :limit.
SELECT count(*) FROM (SELECT 1 FROM job WHERE org_id = :org_id AND status = 'queued' LIMIT :limit) AS counted
