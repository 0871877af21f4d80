-- How many jobs of a kind run or may start, counted no further than :limit.
SELECT (SELECT count(*) FROM (SELECT 1 FROM job WHERE kind = :kind AND status = 'queued' AND waits_for IS NULL LIMIT :limit) AS counted)
     + (SELECT count(*) FROM (SELECT 1 FROM job WHERE status = 'in_progress' AND kind = :kind LIMIT :limit) AS counted)
