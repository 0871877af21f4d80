-- Organisations that have a project of this slug; two are enough to know that the slug alone does not tell which is meant.
SELECT docs_org.slug
  FROM docs_org
  JOIN docs_project ON docs_project.org = docs_org.slug AND docs_project.slug = :slug AND docs_project.date_deleted IS NULL
 LIMIT 2
