SELECT artifact.uid, artifact.name, artifact.media_type, artifact.job_uid, short_link.link
  FROM short_link
  JOIN artifact ON artifact.uid = short_link.artifact
 WHERE short_link.link = :link AND (:org_id IS NULL OR short_link.org_id = :org_id)
