INSERT INTO packs_config (org_id, key, number, status, sha256, comment, author, date_created)
VALUES (:org_id, :key, :number, 'draft', :sha256, :comment, :author, :now)
