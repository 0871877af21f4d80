SELECT /* purgatory_columns */
  FROM docs_purgatory
 WHERE id = :id AND org = :org
