SELECT DISTINCT org FROM docs_credential ORDER BY org
