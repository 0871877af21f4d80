SELECT key, number, status, sha256, problems, comment, author, date_created, date_published
  FROM packs_config
 WHERE org_id = :org_id AND key = :key AND number = :number
