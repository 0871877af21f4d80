UPDATE render_cache SET hits = hits + 1 WHERE fingerprint = :fingerprint
