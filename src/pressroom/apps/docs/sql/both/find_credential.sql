SELECT /* credential_columns */
  FROM docs_credential
 WHERE org = :org AND label = :label
