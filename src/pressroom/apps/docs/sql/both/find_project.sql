SELECT /* project_columns */
  FROM docs_project
 WHERE org = :org AND slug = :slug AND date_deleted IS NULL
