-- What was made shortly before some jobs, and with which engines. :firsts is an array of [job id, kind]; the nearest come first.
-- LATERAL, and cut off, so that the jobs before each are read by their numbers: a plain join was made by kind, over all jobs.
SELECT first.id, (near.result::json)->>'engines'
  FROM (SELECT (value->>0)::bigint AS id, value->>1 AS kind FROM json_array_elements(:firsts::json)) AS first
 CROSS JOIN LATERAL (SELECT id, kind, status, result
                       FROM job
                      WHERE job.id < first.id AND job.id >= first.id - :near
                      ORDER BY job.id DESC
                      LIMIT :near) AS near
 WHERE near.kind = first.kind AND near.status = 'completed' AND (near.result::json)->>'engines' IS NOT NULL
 ORDER BY near.id DESC
