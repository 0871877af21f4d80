-- Unless it was used or kept since.
DELETE FROM render_cache
 WHERE fingerprint = :fingerprint AND last_used = :last_used AND kept_for IS NULL
RETURNING artifact
