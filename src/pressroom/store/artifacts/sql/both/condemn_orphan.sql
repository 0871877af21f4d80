-- Condemn bytes that no row knows, before they are deleted: a put that finds them there must not rely on them.
INSERT INTO blob (sha256, generation, size, state, state_since, date_created)
VALUES (:sha256, :generation, :size, 'deleting', :now, :now)
    ON CONFLICT (sha256) DO UPDATE
   SET generation = excluded.generation, state = 'deleting', state_since = excluded.state_since
 WHERE blob.state IN ('deleting', 'deleted') AND blob.generation <= excluded.generation
RETURNING sha256
