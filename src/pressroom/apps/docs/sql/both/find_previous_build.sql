-- The completed build before one of a number, of the same ref.
SELECT /* build_columns */
  FROM docs_build
 WHERE project = :project AND date_deleted IS NULL AND status = 'completed' AND git_ref = :git_ref
   AND coalesce(alternate_name, '') = :alternate_name AND number < :number
 ORDER BY number DESC
 LIMIT 1
