SELECT id FROM docs_project WHERE org = :org AND date_deleted IS NULL AND dashboard_version < editions_version ORDER BY id
