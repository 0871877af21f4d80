SELECT /* build_columns */
  FROM docs_build
 WHERE project = :project AND date_deleted IS NULL AND uid < :before AND (:status = '' OR status = :status)
 ORDER BY uid DESC
 LIMIT :limit
