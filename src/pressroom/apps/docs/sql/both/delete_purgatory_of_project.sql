DELETE FROM docs_purgatory WHERE project = :project
