-- Those of some jobs that may start now. The payload comes along where a worker of design 002 would look for it.
--
-- In these words no index of what is queued is of use: with one, the server goes through everything that waits.
SELECT uid, kind, tier, (SELECT body FROM job_payload WHERE job_id = job.id AND body LIKE '%"render_request"%')
  FROM job
 WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint)) AND coalesce(status, '') = 'queued' AND coalesce(waits_for, '') = ''
 ORDER BY tier, seq
