-- Older ones that had the same job have lost it: it renders a newer text now.
UPDATE wiki_revision
   SET render_status = 'stale'
  FROM json_each(:some)
 WHERE render_status = 'queued' AND article = value ->> 0 AND number < value ->> 1 AND job_uid = value ->> 2
