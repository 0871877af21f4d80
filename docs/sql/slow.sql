-- Q18: jobs in progress that started more than ten minutes ago, the slowest first. :now is in milliseconds.
SELECT public_id, kind, org_id, project_id, phase, progress, date_started, (:now - date_started) / 1000 AS seconds
  FROM queue_job
 WHERE status = 'in_progress' AND date_started < :now - 600000
 ORDER BY date_started, id;
