SELECT /* service_columns */
  FROM docs_service
 WHERE org = :org
 ORDER BY label
