-- Each is a list of article, number and job. Its HTML stays until there is another.
UPDATE wiki_revision
   SET render_status = 'queued', job_uid = value ->> 2
  FROM json_each(:some)
 WHERE article = value ->> 0 AND number = value ->> 1
