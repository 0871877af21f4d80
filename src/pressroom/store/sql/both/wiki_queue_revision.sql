-- Its HTML stays until there is another.
UPDATE wiki_revision SET render_status = 'queued', job_uid = :job_uid WHERE article = :article AND number = :number
