-- An artifact, and so its short link, lives as long as the cache entry beside it.
UPDATE artifact SET expires_at = :expires_at WHERE uid = :uid AND expires_at IS NOT NULL
