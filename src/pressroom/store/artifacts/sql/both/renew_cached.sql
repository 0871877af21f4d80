-- Note that an entry is used, and let it live longer: what is kept for as long as it says, anything else for `lifetime`. What is
-- expired stays so: its link was answered with 404.
UPDATE render_cache
   SET last_used = :now, expires_at = :now + coalesce(kept_for, :lifetime)
 WHERE artifact = :artifact AND expires_at > :now
RETURNING expires_at
