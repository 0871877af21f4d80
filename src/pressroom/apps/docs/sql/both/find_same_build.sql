-- The newest build of a ref, if it is completed and has this content. One that failed before its inventory was shown nowhere, and
-- does not count. Not a build some of whose editions failed, nor one whose edition was deleted: a new one brings them back (D27).
SELECT /* build_columns */
  FROM docs_build
 WHERE uid = (SELECT newest.uid
                FROM docs_build AS newest
               WHERE newest.project = :project AND newest.git_ref = :git_ref
                 AND coalesce(newest.alternate_name, '') = :alternate_name
                 AND newest.number IS NOT NULL AND newest.date_deleted IS NULL
                 AND (newest.status <> 'failed' OR newest.artifact IS NOT NULL)
               ORDER BY newest.number DESC
               LIMIT 1)
   AND content_hash = :content_hash AND status = 'completed' AND error IS NULL
   AND NOT EXISTS (SELECT 1 FROM docs_edition WHERE docs_edition.build = docs_build.uid AND docs_edition.date_deleted IS NOT NULL)
