SELECT id, slug
  FROM docs_project
 WHERE org = :org AND (:project = '' OR id = :project) AND date_deleted IS NULL AND id > :after
   AND (dashboard IS NULL OR dashboard_version < editions_version)
 ORDER BY id
 LIMIT :limit
