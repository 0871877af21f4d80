INSERT INTO packs_batch (id, org_id, job_uid, format, upload, sha256, size, user_id, author, date_created)
VALUES (:id, :org_id, :job_uid, :format, :upload, :sha256, :size, :user_id, :author, :now)
