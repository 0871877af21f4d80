-- As reserve_blob.sql, for many.
INSERT INTO blob (sha256, generation, size, state, state_since, date_created)
SELECT wanted.value->>0, blob_epoch.value, (wanted.value->>1)::bigint, 'marked', :now, :now
  FROM json_array_elements(:blobs::json) WITH ORDINALITY AS wanted (value, place)
  JOIN blob_epoch ON blob_epoch."only" = 1
 ORDER BY wanted.place
    ON CONFLICT (sha256) DO UPDATE
   SET generation = CASE WHEN blob.state IN ('live', 'marked') THEN blob.generation
                         WHEN blob.generation >= excluded.generation THEN blob.generation + 1
                         ELSE excluded.generation END,
       state = CASE blob.state WHEN 'live' THEN 'live' ELSE 'marked' END,
       state_since = CASE blob.state WHEN 'live' THEN blob.state_since ELSE excluded.state_since END
RETURNING sha256, generation
