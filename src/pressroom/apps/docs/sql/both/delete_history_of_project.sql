DELETE FROM docs_history WHERE edition IN (SELECT id FROM docs_edition WHERE project = :project)
