SELECT /* template_columns */
  FROM docs_template
 WHERE org = :org AND coalesce(project, '') = :project
