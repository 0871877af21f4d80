-- Say that these bytes are about to be put, and learn the generation to put them under.
--
-- It keeps the collector away for its grace. Once condemned, a generation is never written again: its deletion may come late.
INSERT INTO blob (sha256, generation, size, state, state_since, date_created)
SELECT :sha256, value, :size, 'marked', :now, :now FROM blob_epoch WHERE "only" = 1
    ON CONFLICT (sha256) DO UPDATE
   SET generation = CASE WHEN blob.state IN ('live', 'marked') THEN blob.generation
                         WHEN blob.generation >= excluded.generation THEN blob.generation + 1
                         ELSE excluded.generation END,
       state = CASE blob.state WHEN 'live' THEN 'live' ELSE 'marked' END,
       state_since = CASE blob.state WHEN 'live' THEN blob.state_since ELSE excluded.state_since END
RETURNING generation
