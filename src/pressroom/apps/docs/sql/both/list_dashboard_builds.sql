-- The builds that a project's editions show, with all that a dashboard tells of them.
SELECT /* build_columns */
  FROM docs_build
 WHERE docs_build.uid IN (SELECT docs_edition.build
                            FROM docs_edition
                           WHERE docs_edition.project = :project AND docs_edition.date_deleted IS NULL AND docs_edition.build IS NOT NULL)
