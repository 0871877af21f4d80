DELETE FROM docs_edition WHERE project = :project
