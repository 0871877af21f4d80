-- Files and bytes of the builds of a project that are not purged, as they were uploaded.
SELECT coalesce(sum(object_count), 0), coalesce(sum(total_size), 0)
  FROM docs_build
 WHERE project = :project
   AND (date_deleted IS NULL
        OR EXISTS (SELECT 1 FROM docs_purgatory WHERE docs_purgatory.what = 'build' AND docs_purgatory.subject = docs_build.uid))
