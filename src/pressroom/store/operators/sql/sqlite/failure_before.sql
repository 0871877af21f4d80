-- What was made shortly before some jobs, and with which engines. :firsts is an array of [job id, kind]; the nearest come first.
-- They are a CROSS JOIN because SQLite does not change the order of one: it would begin with all jobs, as they come in order.
SELECT first.id, job.result->>'$.engines'
  FROM (SELECT value->>0 AS id, value->>1 AS kind FROM json_each(:firsts)) AS first
  CROSS JOIN job ON job.id BETWEEN first.id - :near AND first.id - 1 AND job.kind = first.kind AND job.status = 'completed'
 WHERE job.result->>'$.engines' IS NOT NULL
 ORDER BY job.id DESC
