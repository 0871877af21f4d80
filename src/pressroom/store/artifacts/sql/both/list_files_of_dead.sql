-- Some files of artifacts that nothing needs any more, as list_dead_artifacts.sql finds them.
SELECT artifact_file.artifact, artifact_file.path, artifact_file.sha256
  FROM artifact
  JOIN artifact_file ON artifact_file.artifact = artifact.uid
 WHERE artifact.job_uid IS NULL AND artifact.sha256 IS NULL AND coalesce(artifact.expires_at, 0) <= :now
   AND NOT EXISTS (SELECT 1 FROM artifact_hold WHERE artifact_hold.artifact = artifact.uid)
   AND NOT EXISTS (SELECT 1 FROM render_cache WHERE render_cache.artifact = artifact.uid AND render_cache.expires_at > :now)
 LIMIT :limit
