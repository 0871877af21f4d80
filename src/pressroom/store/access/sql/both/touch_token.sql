-- When it was last used, to the minute. Several processes may say so at once: the latest stays.
UPDATE token SET used_at = :now WHERE uid = :uid AND (used_at IS NULL OR used_at <= :now - :at_most_every)
