DELETE FROM artifact_file
 WHERE (artifact, path) IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:files))
