-- Every project that an organisation's template, or a project's own one, may be rendered with.
UPDATE docs_project
   SET editions_version = editions_version + 1
 WHERE org = :org AND (:project = '' OR id = :project) AND date_deleted IS NULL
