-- All projects of an organisation, or one.
UPDATE docs_project
   SET editions_version = editions_version + 1
 WHERE org = :org AND (:project = '' OR id = :project) AND date_deleted IS NULL
