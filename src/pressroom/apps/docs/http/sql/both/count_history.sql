-- As list_history: what shows a deleted build is left out unless `deleted` is 1.
SELECT count(*), count(*) FILTER (WHERE docs_history.seq >= :before)
  FROM docs_history
  JOIN docs_build ON docs_build.uid = docs_history.build
 WHERE docs_history.edition = :edition AND (:deleted = 1 OR docs_build.date_deleted IS NULL)
