SELECT /* purgatory_columns */
  FROM docs_purgatory
 WHERE org = :org AND purge_after <= :now
 ORDER BY purge_after
 LIMIT :limit
