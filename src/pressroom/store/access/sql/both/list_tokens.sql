SELECT uid, digest, prefix, name, scope, org_id, everywhere, date_created, expires_at, revoked_at, used_at
  FROM token ORDER BY uid
