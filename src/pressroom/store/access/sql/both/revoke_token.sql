-- By its uid or by the beginning that lists show. The first revocation is the one that counts.
UPDATE token SET revoked_at = coalesce(revoked_at, :now)
 WHERE uid = :name OR prefix = :name
RETURNING uid
