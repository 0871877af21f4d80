-- Newest first, of one organisation or of all if NULL. A token for all organisations belongs to none, and is listed only for such tokens.
SELECT uid, digest, prefix, name, scope, org_id, everywhere, date_created, expires_at, revoked_at, used_at
  FROM token
 WHERE uid < :before AND (:org_id IS NULL OR (everywhere = 0 AND org_id = :org_id))
   AND (:holds_at IS NULL OR (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :holds_at)))
 ORDER BY uid DESC
 LIMIT :limit
