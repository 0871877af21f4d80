-- Also a deleted one.
SELECT /* project_columns */
  FROM docs_project
 WHERE id = :id
