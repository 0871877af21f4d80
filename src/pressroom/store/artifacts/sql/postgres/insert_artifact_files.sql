INSERT INTO artifact_file (artifact, path, sha256, size, media_type)
SELECT :uid, value->>0, value->>1, (value->>2)::bigint, value->>3 FROM json_array_elements(:files::json)
