SELECT id, org_id, job_uid, format, upload, sha256, size, user_id, author, lines, date_created, date_read FROM packs_batch WHERE id = :id AND org_id = :org_id
