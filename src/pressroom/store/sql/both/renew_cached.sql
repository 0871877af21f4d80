-- Let a cache entry live longer, if it still lives. What is expired stays so: its link was told to be gone.
UPDATE render_cache
   SET expires_at = :expires_at, last_used = :now
 WHERE fingerprint = :fingerprint AND expires_at > :now AND expires_at < :expires_at
RETURNING artifact
