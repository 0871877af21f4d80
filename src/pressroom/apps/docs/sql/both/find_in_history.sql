SELECT 1 FROM docs_history WHERE edition = :edition AND build = :build LIMIT 1
