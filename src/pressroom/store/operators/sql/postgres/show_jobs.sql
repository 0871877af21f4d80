-- Some jobs as people are shown them, newest first.
SELECT *
  FROM job_shown
 WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint))
 ORDER BY id DESC
