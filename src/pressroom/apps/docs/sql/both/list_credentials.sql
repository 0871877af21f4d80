SELECT /* credential_columns */
  FROM docs_credential
 WHERE org = :org
 ORDER BY label
