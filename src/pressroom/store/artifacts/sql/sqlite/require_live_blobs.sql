-- As rely_on_blob.sql, for the many files of one artifact. Rows come back for those that may be relied on.
UPDATE blob
   SET state = 'live', state_since = CASE state WHEN 'live' THEN state_since ELSE :now END
  FROM (SELECT DISTINCT json_extract(value, '$[0]') AS sha256, json_extract(value, '$[1]') AS generation,
               json_extract(value, '$[2]') AS size
          FROM json_each(:blobs)) AS wanted
 WHERE blob.sha256 = wanted.sha256 AND blob.generation = wanted.generation AND blob.size = wanted.size
   AND blob.state IN ('live', 'marked')
RETURNING blob.sha256
