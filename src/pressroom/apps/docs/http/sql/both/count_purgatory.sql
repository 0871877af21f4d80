SELECT count(*) FROM docs_purgatory WHERE org = :org AND (:project = '' OR project = :project)
