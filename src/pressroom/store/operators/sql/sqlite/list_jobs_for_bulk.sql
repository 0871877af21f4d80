-- What decides whether a job may be cancelled or tried again: how it stands, since when, and whether it was tried again before.
SELECT id, uid, kind, status, date_completed, last_error,
       (SELECT max(later.id) FROM job AS later WHERE later.retry_of = job.uid)
  FROM job
 WHERE id IN (SELECT value FROM json_each(:ids))
 ORDER BY id DESC
