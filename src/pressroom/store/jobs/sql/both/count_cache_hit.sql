UPDATE render_cache SET hits = hits + 1, last_used = :now WHERE fingerprint = :fingerprint
