-- As rely_on_blob.sql, for the many files of one artifact. Rows come back for those that may be relied on.
UPDATE blob
   SET state = 'live', state_since = CASE state WHEN 'live' THEN state_since ELSE :now END
  FROM (SELECT DISTINCT value->>0 AS sha256, (value->>1)::bigint AS generation, (value->>2)::bigint AS size
          FROM json_array_elements(:blobs::json)) AS wanted
 WHERE blob.sha256 = wanted.sha256 AND blob.generation = wanted.generation AND blob.size = wanted.size
   AND blob.state IN ('live', 'marked')
RETURNING blob.sha256
