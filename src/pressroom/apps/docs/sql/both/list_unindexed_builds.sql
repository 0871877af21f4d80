-- Builds that an edition shows and search does not know.
SELECT DISTINCT docs_build.uid
  FROM docs_edition
  JOIN docs_project ON docs_project.id = docs_edition.project AND docs_project.date_deleted IS NULL
  JOIN docs_build ON docs_build.uid = docs_edition.build
 WHERE docs_edition.date_deleted IS NULL AND docs_build.status = 'completed'
   AND NOT EXISTS (
       SELECT 1 FROM docs_search
        WHERE docs_search.build = docs_build.uid AND (docs_search.state = 'complete' OR docs_search.date_changed > :since))
 ORDER BY docs_build.uid
 LIMIT :limit
