-- Those of some jobs that may start now. The payload comes along if the kind is among :with_payload.
--
-- In these words no index of what is queued is of use: with one, the server goes through everything that waits.
SELECT uid, kind, tier, (SELECT body FROM job_payload
                          WHERE job_id = job.id AND job.kind = ANY (ARRAY(SELECT json_array_elements_text(:with_payload::json))))
  FROM job
 WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint)) AND coalesce(status, '') = 'queued' AND coalesce(waits_for, '') = ''
 ORDER BY tier, seq
