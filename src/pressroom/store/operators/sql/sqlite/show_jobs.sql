-- Some jobs as people are shown them, newest first.
SELECT *
  FROM job_shown
 WHERE id IN (SELECT value FROM json_each(:ids))
 ORDER BY id DESC
