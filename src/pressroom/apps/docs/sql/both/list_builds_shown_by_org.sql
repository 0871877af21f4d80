SELECT /* build_columns */
  FROM docs_build
 WHERE uid IN (SELECT docs_edition.build
                 FROM docs_project
                 JOIN docs_edition ON docs_edition.project = docs_project.id
                WHERE docs_project.org = :org AND docs_project.date_deleted IS NULL AND docs_edition.date_deleted IS NULL)
