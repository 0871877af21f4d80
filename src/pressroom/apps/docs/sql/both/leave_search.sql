-- Builds that no edition shows any more are not searched; an empty project means any.
UPDATE docs_search SET state = 'leaving', attempt = :attempt, date_changed = :now
 WHERE build IN (
       SELECT docs_search.build
         FROM docs_search
         JOIN docs_build ON docs_build.uid = docs_search.build
        WHERE (CAST(:project AS TEXT) = '' OR docs_build.project = :project)
          AND NOT EXISTS (
              SELECT 1 FROM docs_edition
               WHERE docs_edition.build = docs_search.build AND docs_edition.date_deleted IS NULL)
        LIMIT :limit)
RETURNING build
