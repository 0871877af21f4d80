-- Q15: jobs of a project that update editions now. Two that have one slug in `editions_in_progress` update the same edition.
-- :project is the project's id.
SELECT public_id, kind, build_id, progress, date_started
  FROM queue_job
 WHERE project_id = :project AND status = 'in_progress' AND phase = 'editions'
 ORDER BY date_started, id;
