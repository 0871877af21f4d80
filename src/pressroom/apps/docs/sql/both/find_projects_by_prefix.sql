-- For the search box: projects whose slug begins with a text, of one organisation or of all (NULL). There is no upper bound of
-- the range, because what sorts behind every slug depends on the collation. A cross join keeps SQLite from reading all projects.
SELECT docs_project.org, docs_project.slug, docs_project.id, docs_project.title
  FROM docs_org
 CROSS JOIN docs_project
 WHERE (:org IS NULL OR docs_org.slug = :org)
   AND docs_project.org = docs_org.slug AND docs_project.date_deleted IS NULL AND docs_project.slug >= :begin
   AND substr(docs_project.slug, 1, length(:begin)) = :begin
 ORDER BY docs_project.slug, docs_project.org
 LIMIT :limit
