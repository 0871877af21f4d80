-- Compare and set: a dashboard that shows an older state never takes the place of a newer one.
UPDATE docs_project
   SET dashboard = :artifact, dashboard_version = :version
 WHERE id = :id AND (dashboard IS NULL OR dashboard_version < :version)
RETURNING dashboard_version
