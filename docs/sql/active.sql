-- Q14: what runs, the longest first: its phase, and how far each edition is.
SELECT public_id, kind, org_id, project_id, build_id, phase, progress, date_started
  FROM queue_job
 WHERE status = 'in_progress'
 ORDER BY date_started, id;
