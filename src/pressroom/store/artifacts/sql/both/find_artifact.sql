-- With whether it is dead: past its expiry, if it has one, and without a holder.
SELECT artifact.uid, artifact.name, artifact.sha256, blob.generation, artifact.files, artifact.size, artifact.media_type,
       artifact.filename, artifact.org_id, artifact.job_uid, artifact.date_created, artifact.expires_at,
       (artifact.expires_at IS NOT NULL AND artifact.expires_at <= :now
        AND NOT EXISTS (SELECT 1 FROM artifact_hold WHERE artifact_hold.artifact = artifact.uid)) AS dead
  FROM artifact
  LEFT JOIN blob ON blob.sha256 = artifact.sha256
 WHERE artifact.uid = :uid
