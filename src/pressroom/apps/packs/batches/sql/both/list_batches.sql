SELECT id, org_id, job_uid, format, upload, sha256, size, user_id, author, lines, date_created, date_read
  FROM packs_batch
 WHERE org_id = :org_id AND id < :before
 ORDER BY id DESC
 LIMIT :limit
