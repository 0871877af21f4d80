-- For a page that an edition lacks: the editions that have it, `__main` first.
SELECT docs_edition.slug, docs_edition.title
  FROM docs_edition
  JOIN docs_build ON docs_build.uid = docs_edition.build AND docs_build.artifact IS NOT NULL AND docs_build.date_deleted IS NULL
 WHERE docs_edition.project = :project AND docs_edition.date_deleted IS NULL
   AND EXISTS (SELECT 1 FROM artifact_file WHERE artifact = docs_build.artifact AND path IN (:path, :folder_index))
 ORDER BY CASE docs_edition.kind WHEN 'main' THEN 0 WHEN 'release' THEN 1 WHEN 'major' THEN 2 WHEN 'minor' THEN 3 ELSE 4 END,
          docs_edition.slug_key DESC
 LIMIT :limit
