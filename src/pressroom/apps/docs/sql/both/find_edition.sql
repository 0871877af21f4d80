SELECT /* edition_columns */
  FROM docs_edition
 WHERE project = :project AND slug_key = :slug_key AND date_deleted IS NULL
