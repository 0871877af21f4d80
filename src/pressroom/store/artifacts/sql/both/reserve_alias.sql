-- No row: the name is condemned, and may be deleted at any moment.
INSERT INTO blob_alias (path, sha256, generation, size, date_reserved)
VALUES (:path, :sha256, :generation, :size, :now)
    ON CONFLICT (path) DO UPDATE SET sha256 = excluded.sha256, generation = excluded.generation, size = excluded.size,
       date_reserved = excluded.date_reserved
 WHERE blob_alias.date_condemned IS NULL
RETURNING path
