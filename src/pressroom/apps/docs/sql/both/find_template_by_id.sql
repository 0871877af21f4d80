SELECT /* template_columns */
  FROM docs_template
 WHERE id = :id
