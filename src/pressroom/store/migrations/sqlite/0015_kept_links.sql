-- When an entry was used last, to the hour: in a cache that is too large, the least recently used entries are evicted first.
-- A kept entry (playground) has `kept_for`: it lives for so many milliseconds after its last use, and is never evicted.
ALTER TABLE render_cache ADD COLUMN last_used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE render_cache ADD COLUMN kept_for INTEGER;
UPDATE render_cache SET last_used = date_created;
CREATE INDEX render_cache_use ON render_cache (last_used) WHERE kept_for IS NULL;
