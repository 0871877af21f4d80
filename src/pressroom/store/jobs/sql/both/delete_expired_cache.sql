DELETE FROM render_cache WHERE expires_at <= :now
