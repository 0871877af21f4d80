-- What kind of file each of some artifacts is, unless its time is over.
SELECT uid, media_type
  FROM artifact
 WHERE uid = ANY (ARRAY(SELECT json_array_elements_text(:uids::json))) AND sha256 IS NOT NULL
   AND (expires_at IS NULL OR expires_at > :now
        OR EXISTS (SELECT 1 FROM artifact_hold WHERE artifact_hold.artifact = artifact.uid))
