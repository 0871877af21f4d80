-- Builds that no edition shows any more are not searched; an empty project means any. In SQLite a CROSS JOIN keeps its order: few
-- builds are searched.
UPDATE docs_search SET state = 'leaving', attempt = :attempt, date_changed = :now
 WHERE build IN (
       SELECT docs_search.build
         FROM docs_search
        CROSS JOIN docs_build
        WHERE docs_build.uid = docs_search.build AND (CAST(:project AS TEXT) = '' OR docs_build.project = :project)
          AND NOT EXISTS (
              SELECT 1 FROM docs_edition
                JOIN docs_project ON docs_project.id = docs_edition.project AND docs_project.date_deleted IS NULL
               WHERE docs_edition.build = docs_search.build AND docs_edition.date_deleted IS NULL)
        LIMIT :limit)
RETURNING build
