SELECT count(*)
  FROM docs_build
 WHERE project = :project AND date_deleted IS NULL AND (:status = '' OR status = :status)
