DELETE FROM docs_credential WHERE org = :org AND label = :label
