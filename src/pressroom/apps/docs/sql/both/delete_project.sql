DELETE FROM docs_project WHERE id = :id
