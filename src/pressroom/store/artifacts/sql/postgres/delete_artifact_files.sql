DELETE FROM artifact_file
 WHERE (artifact, path) IN (SELECT value->>0, value->>1 FROM json_array_elements(:files::json))
