SELECT /* project_columns */
  FROM docs_project
 WHERE git_url <> '' AND date_deleted IS NULL AND id > :after
 ORDER BY id
 LIMIT :limit
