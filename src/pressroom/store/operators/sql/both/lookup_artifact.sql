-- With one of the links to it, for an artifact that has outlived its job.
SELECT uid, name, media_type, job_uid, (SELECT min(link) FROM short_link WHERE short_link.artifact = artifact.uid)
  FROM artifact
 WHERE uid = :uid AND (:org_id IS NULL OR org_id = :org_id)
