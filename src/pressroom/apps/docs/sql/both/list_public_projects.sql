SELECT docs_org.slug, docs_project.slug, docs_project.title
  FROM docs_org
  JOIN docs_project ON docs_project.org = docs_org.slug
 WHERE docs_org.is_private = 0 AND docs_project.date_deleted IS NULL
 ORDER BY docs_org.slug, docs_project.slug
 LIMIT :limit
