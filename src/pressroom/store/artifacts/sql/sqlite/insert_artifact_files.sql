INSERT INTO artifact_file (artifact, path, sha256, size, media_type)
SELECT :uid, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]')
  FROM json_each(:files)
