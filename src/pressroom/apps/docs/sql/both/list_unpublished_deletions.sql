-- Deleted editions whose last move, the deletion, is not published yet.
SELECT /* edition_columns */
  FROM docs_edition
  JOIN docs_project ON docs_project.id = docs_edition.project
 WHERE docs_edition.published_seq < docs_edition.publish_seq AND docs_edition.date_deleted IS NOT NULL AND docs_project.org = :org
