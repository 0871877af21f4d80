SELECT /* service_columns */
  FROM docs_service
 WHERE org = :org AND label = :label
