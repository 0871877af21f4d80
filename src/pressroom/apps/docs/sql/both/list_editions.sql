SELECT /* edition_columns */
  FROM docs_edition
 WHERE project = :project AND date_deleted IS NULL
 ORDER BY slug_key
