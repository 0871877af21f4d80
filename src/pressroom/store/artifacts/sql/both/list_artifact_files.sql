SELECT artifact_file.path, artifact_file.sha256, blob.generation, artifact_file.size, artifact_file.media_type
  FROM artifact_file
  JOIN blob ON blob.sha256 = artifact_file.sha256
 WHERE artifact_file.artifact = :uid AND artifact_file.path > :after
 ORDER BY artifact_file.path
 LIMIT :limit
