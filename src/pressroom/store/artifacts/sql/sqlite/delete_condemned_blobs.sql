-- The bytes are gone. If they were put again meanwhile, the generation is another and the row stays as it is.
UPDATE blob
   SET state = 'deleted', state_since = :now
  FROM json_each(:blobs) AS gone
 WHERE blob.sha256 = json_extract(gone.value, '$[0]') AND blob.generation = json_extract(gone.value, '$[1]')
   AND blob.state = 'deleting'
RETURNING blob.sha256
