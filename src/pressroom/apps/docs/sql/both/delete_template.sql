DELETE FROM docs_template WHERE id = :id
