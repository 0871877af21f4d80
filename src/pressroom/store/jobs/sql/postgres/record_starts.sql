INSERT INTO job_event (job_id, at, type, data)
SELECT id, :now, 'started', json_build_object('attempt', failures + 1, 'worker', worker)::text
  FROM job
 WHERE id = ANY (ARRAY(SELECT value::bigint FROM json_array_elements_text(:ids::json)))
 ORDER BY id
