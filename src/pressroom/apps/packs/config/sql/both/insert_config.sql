INSERT INTO packs_config (org_id, key, number, status, sha256, problems, comment, author, date_created)
VALUES (:org_id, :key, :number, :status, :sha256, :problems, :comment, :author, :now)
