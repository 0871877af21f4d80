-- Also a deleted one.
SELECT /* edition_columns */
  FROM docs_edition
 WHERE id = :id
