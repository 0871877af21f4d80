-- Editions that are deleted, or whose project is, as long as that is not published.
SELECT /* edition_columns */
  FROM docs_project
  JOIN docs_edition ON docs_edition.project = docs_project.id
 WHERE docs_project.org = :org AND docs_edition.published_seq < docs_edition.publish_seq
   AND (docs_edition.date_deleted IS NOT NULL OR docs_project.date_deleted IS NOT NULL)
