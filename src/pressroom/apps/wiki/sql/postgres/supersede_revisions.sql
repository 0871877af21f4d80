-- Older ones that had the same job have lost it: it renders a newer text now.
UPDATE wiki_revision
   SET render_status = 'stale'
  FROM json_array_elements(:some::json)
 WHERE render_status = 'queued' AND article = (value ->> 0)::bigint AND number < (value ->> 1)::bigint AND job_uid = value ->> 2
