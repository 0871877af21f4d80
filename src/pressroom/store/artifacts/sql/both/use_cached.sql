-- Note that an entry is used. A kept entry lives for `kept_for` from here; the expiry of any other stays as it is.
UPDATE render_cache
   SET last_used = :now, expires_at = CASE WHEN kept_for IS NULL THEN expires_at ELSE :now + kept_for END
 WHERE artifact = :artifact AND expires_at > :now AND last_used < :now
RETURNING expires_at
