SELECT /* project_columns */
  FROM docs_project
 WHERE org = :org AND date_deleted IS NULL AND slug > :after
   AND (:text = '' OR slug LIKE :text ESCAPE '\' OR lower(title) LIKE :text ESCAPE '\')
 ORDER BY slug
 LIMIT :limit
