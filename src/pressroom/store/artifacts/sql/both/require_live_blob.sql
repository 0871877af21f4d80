-- Make a blob live because an artifact is about to refer to it. No row: its bytes are gone or going, and must be put again.
UPDATE blob
   SET state = 'live', state_since = CASE state WHEN 'live' THEN state_since ELSE :now END
 WHERE sha256 = :sha256 AND generation = :generation AND size = :size AND state IN ('live', 'marked')
RETURNING sha256
