DELETE FROM docs_build WHERE project = :project
