SELECT 1 FROM docs_project WHERE org = :org LIMIT 1
