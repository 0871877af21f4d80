-- Also one that is expired or revoked: the caller decides, and answers the same for all three.
SELECT uid, digest, prefix, name, scope, org_id, everywhere, date_created, expires_at, revoked_at, used_at
  FROM token WHERE digest = :digest
