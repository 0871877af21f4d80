-- How the renders fare that a batch has queued.
SELECT status, count(*) FROM job WHERE parent = :parent GROUP BY status
