-- With those that are deleted: what they have published is to go.
SELECT /* project_columns */
  FROM docs_project
 WHERE org = :org
