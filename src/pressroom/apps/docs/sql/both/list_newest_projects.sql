-- As list_projects, those that were created last first. `before` is the id of the last one of the page before: ids sort by time.
SELECT /* project_columns */
  FROM docs_project
 WHERE org = :org AND date_deleted IS NULL AND id < :before
   AND (:text = '' OR slug LIKE :text ESCAPE '\' OR lower(title) LIKE :text ESCAPE '\')
 ORDER BY id DESC
 LIMIT :limit
