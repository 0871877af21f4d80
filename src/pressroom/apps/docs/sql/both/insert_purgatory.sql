INSERT INTO docs_purgatory (id, org, project, what, subject, name, reason, actor, objects, bytes, date_entered, purge_after)
VALUES (:id, :org, :project, :what, :subject, :name, :reason, :actor, :objects, :bytes, :now, :purge_after)
