INSERT INTO artifact (uid, name, sha256, files, size, media_type, filename, org_id, job_uid, date_created, expires_at)
VALUES (:uid, :name, :sha256, :files, :size, :media_type, :filename, :org_id, :job_uid, :now, :expires_at)
