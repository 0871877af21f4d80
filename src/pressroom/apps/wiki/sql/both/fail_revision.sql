-- Not one that has another job by now, which may yet succeed.
UPDATE wiki_revision
   SET render_status = :status, error = :error
 WHERE article = :article AND number = :number AND render_status = 'queued' AND job_uid = :job_uid
