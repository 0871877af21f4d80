-- What decides whether a job may be cancelled or tried again: how it stands, since when, and whether it was tried again before.
SELECT id, uid, kind, status, date_completed, last_error,
       (SELECT max(later.id) FROM job AS later WHERE later.retry_of = job.uid)
  FROM job
 WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint))
 ORDER BY id DESC
