-- What an edition shows. A build without its files, or one that was deleted, is none.
SELECT docs_edition.slug, docs_edition.title, docs_edition.kind, docs_build.uid, docs_build.artifact, docs_build.git_ref
  FROM docs_edition
  LEFT JOIN docs_build ON docs_build.uid = docs_edition.build AND docs_build.artifact IS NOT NULL AND docs_build.date_deleted IS NULL
 WHERE docs_edition.project = :project AND docs_edition.slug_key = :slug_key AND docs_edition.date_deleted IS NULL
