SELECT count(*)
  FROM docs_project
 WHERE org = :org AND date_deleted IS NULL
   AND (:text = '' OR slug LIKE :text ESCAPE '\' OR lower(title) LIKE :text ESCAPE '\')
