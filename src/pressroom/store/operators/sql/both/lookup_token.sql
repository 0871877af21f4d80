-- By its uid or by the beginning that lists show. As desk_find_tokens.sql.
SELECT uid, digest, prefix, name, scope, org_id, everywhere, date_created, expires_at, revoked_at, used_at
  FROM token
 WHERE (uid = :name OR prefix = :name) AND (:org_id IS NULL OR (everywhere = 0 AND org_id = :org_id))
 ORDER BY uid
 LIMIT :limit
