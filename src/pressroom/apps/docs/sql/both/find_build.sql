-- `deleted` is 1 to find a deleted one too.
SELECT /* build_columns */
  FROM docs_build
 WHERE uid = :uid AND project = :project AND (:deleted = 1 OR date_deleted IS NULL)
