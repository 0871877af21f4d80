-- The newest completed build of a ref, if it has this content.
SELECT /* build_columns */
  FROM docs_build
 WHERE uid = (SELECT newest.uid
                FROM docs_build AS newest
               WHERE newest.project = :project AND newest.git_ref = :git_ref
                 AND coalesce(newest.alternate_name, '') = :alternate_name
                 AND newest.number IS NOT NULL AND newest.status <> 'failed' AND newest.date_deleted IS NULL
               ORDER BY newest.number DESC
               LIMIT 1)
   AND content_hash = :content_hash AND status = 'completed'
