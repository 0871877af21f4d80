DELETE FROM docs_purgatory WHERE id = :id
