SELECT id FROM docs_edition WHERE project = :project ORDER BY id
