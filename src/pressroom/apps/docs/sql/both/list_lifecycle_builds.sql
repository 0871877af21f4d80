-- What lifecycle rules look at: the builds of a project that are not deleted, some at a time.
SELECT /* build_columns */
  FROM docs_build
 WHERE project = :project AND date_deleted IS NULL AND uid > :after
 ORDER BY uid
 LIMIT :limit
