SELECT config
  FROM docs_service
 WHERE provider = 'folder' AND org <> :org
