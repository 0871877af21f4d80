-- A file, its compressed copies and, if it is a folder, its index: what one request may need, by the primary key.
SELECT artifact_file.path, artifact_file.sha256, blob.generation, artifact_file.size, artifact_file.media_type
  FROM artifact_file
  JOIN blob ON blob.sha256 = artifact_file.sha256
 WHERE artifact_file.artifact = :artifact AND artifact_file.path IN (:path, :gzip, :brotli, :folder_index)
