-- Newest first. `deleted` is 1 to list moves to builds that were deleted since, too.
SELECT docs_history.edition, docs_history.build, docs_history.seq, docs_history."trigger", docs_history.actor, docs_history.job_uid,
       docs_history.publish_status, docs_history.error, docs_history.date_created, docs_build.git_ref, docs_build.alternate_name,
       docs_build.number, docs_build.status, docs_build.annotations, docs_build.date_deleted IS NOT NULL
  FROM docs_history
  JOIN docs_build ON docs_build.uid = docs_history.build
 WHERE docs_history.edition = :edition AND docs_history.seq < :before AND (:deleted = 1 OR docs_build.date_deleted IS NULL)
 ORDER BY docs_history.seq DESC
 LIMIT :limit
