DELETE FROM render_cache WHERE artifact = :artifact RETURNING fingerprint
