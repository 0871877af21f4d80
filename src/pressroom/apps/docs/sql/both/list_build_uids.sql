SELECT uid FROM docs_build WHERE project = :project AND uid > :after ORDER BY uid LIMIT :limit
