-- Older ones that had the same job have lost it: it renders a newer text now.
UPDATE wiki_revision
   SET render_status = 'stale'
 WHERE article = :article AND number < :number AND render_status = 'queued' AND job_uid = :job_uid
