-- How many organisations have jobs that wait, counted no further than :limit. One look into job_line for each of them, however
-- many jobs they have.
WITH RECURSIVE waiting (org_id, place) AS (
    SELECT (SELECT min(org_id) FROM job WHERE status = 'queued'), 1
    UNION ALL
    SELECT (SELECT min(job.org_id) FROM job WHERE status = 'queued' AND job.org_id > waiting.org_id), place + 1
      FROM waiting
     WHERE waiting.org_id IS NOT NULL AND place <= :limit
)
SELECT count(org_id) FROM waiting WHERE place <= :limit
