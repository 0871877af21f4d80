-- From here on it lives with its holds.
UPDATE artifact
   SET expires_at = NULL
 WHERE uid = :uid AND sha256 IS NULL
   AND files = (SELECT count(*) FROM artifact_file WHERE artifact_file.artifact = artifact.uid)
   AND size = (SELECT sum(artifact_file.size) FROM artifact_file WHERE artifact_file.artifact = artifact.uid)
RETURNING uid
