-- Outside of the database the editions of a project appear and disappear with it.
UPDATE docs_edition SET publish_seq = publish_seq + 1 WHERE project = :project AND date_deleted IS NULL AND build IS NOT NULL
