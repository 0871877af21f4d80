-- Organisations that have a project of this slug; two are enough to know that the slug alone does not tell which is meant. In
-- SQLite a CROSS JOIN keeps its order: there are fewer organisations than projects.
SELECT docs_org.slug
  FROM docs_org
 CROSS JOIN docs_project
 WHERE docs_project.org = docs_org.slug AND docs_project.slug = :slug AND docs_project.date_deleted IS NULL
 LIMIT 2
