-- Which builds the editions of a project have shown, newest first.
SELECT docs_history.edition, docs_history.build
  FROM docs_edition
  JOIN docs_history ON docs_history.edition = docs_edition.id
 WHERE docs_edition.project = :project AND docs_edition.date_deleted IS NULL
 ORDER BY docs_history.edition, docs_history.seq DESC
