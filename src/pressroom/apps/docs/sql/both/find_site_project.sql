SELECT id, slug, title, noindex, dashboard, editions_version
  FROM docs_project
 WHERE org = :org AND slug = :slug AND date_deleted IS NULL
