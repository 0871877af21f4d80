SELECT id, org_id, job_uid, format, upload, sha256, size, user_id, author, lines, date_created, date_read FROM packs_batch WHERE job_uid = :job_uid AND org_id = :org_id
