-- Of the builds that are not purged: deleted ones count until then.
SELECT count(*), coalesce(sum(object_count), 0), coalesce(sum(total_size), 0)
  FROM docs_build
 WHERE project = :project AND artifact IS NOT NULL
   AND (date_deleted IS NULL
        OR EXISTS (SELECT 1 FROM docs_purgatory WHERE docs_purgatory.what = 'build' AND docs_purgatory.subject = docs_build.uid))
