SELECT uid, artifact, git_ref
  FROM docs_build
 WHERE uid = :uid AND project = :project AND artifact IS NOT NULL AND status <> 'failed' AND date_deleted IS NULL
