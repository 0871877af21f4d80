-- When the entry whose answer is this artifact was used last.
SELECT last_used FROM render_cache WHERE artifact = :artifact AND expires_at > :now
