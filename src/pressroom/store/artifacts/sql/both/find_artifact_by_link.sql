-- A link expires with the cache entry beside it, even while a hold keeps the artifact.
SELECT artifact.uid, artifact.name, artifact.sha256, blob.generation, artifact.files, artifact.size, artifact.media_type,
       artifact.filename, artifact.org_id, artifact.job_uid, artifact.date_created, artifact.expires_at,
       (artifact.expires_at IS NOT NULL AND artifact.expires_at <= :now) AS dead
  FROM short_link
  JOIN artifact ON artifact.uid = short_link.artifact
  LEFT JOIN blob ON blob.sha256 = artifact.sha256
 WHERE short_link.link = :link
