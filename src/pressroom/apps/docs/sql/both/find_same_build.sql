-- The newest completed build of a ref, if it has this content. Not one some of whose editions failed, nor one whose edition was
-- deleted: a new build brings them back (D27).
SELECT /* build_columns */
  FROM docs_build
 WHERE uid = (SELECT newest.uid
                FROM docs_build AS newest
               WHERE newest.project = :project AND newest.git_ref = :git_ref
                 AND coalesce(newest.alternate_name, '') = :alternate_name
                 AND newest.number IS NOT NULL AND newest.status <> 'failed' AND newest.date_deleted IS NULL
               ORDER BY newest.number DESC
               LIMIT 1)
   AND content_hash = :content_hash AND status = 'completed' AND error IS NULL
   AND NOT EXISTS (SELECT 1 FROM docs_edition WHERE docs_edition.build = docs_build.uid AND docs_edition.date_deleted IS NOT NULL)
