-- Keep an entry, if it still lives, for so many milliseconds after its last use, which is now.
UPDATE render_cache
   SET kept_for = :kept_for, last_used = :now, expires_at = :expires_at
 WHERE artifact = :artifact AND expires_at > :now
RETURNING expires_at
