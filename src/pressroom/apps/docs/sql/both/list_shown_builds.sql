-- The facts of the builds that a project's editions show.
SELECT docs_edition.id, docs_build.uid, docs_build.git_ref, docs_build.alternate_name, docs_build.number
  FROM docs_edition
  JOIN docs_build ON docs_build.uid = docs_edition.build
 WHERE docs_edition.project = :project AND docs_edition.date_deleted IS NULL
