-- The bytes are gone. If they were put again meanwhile, the generation is another and the row stays as it is.
UPDATE blob
   SET state = 'deleted', state_since = :now
  FROM json_array_elements(:blobs::json) AS gone
 WHERE blob.sha256 = gone.value->>0 AND blob.generation = (gone.value->>1)::bigint AND blob.state = 'deleting'
RETURNING blob.sha256
