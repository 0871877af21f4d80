-- A build that is not purged holds its artifact, itself or in purgatory.
SELECT docs_build.job_uid, 'build ' || docs_build.uid || ' does not hold artifact ' || docs_build.artifact
  FROM docs_build
 WHERE docs_build.artifact IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM artifact_hold
                    WHERE artifact_hold.artifact = docs_build.artifact
                      AND artifact_hold.holder IN ('docs:build:' || docs_build.uid, 'docs:purgatory:' || docs_build.uid))
   AND NOT (docs_build.date_deleted IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM docs_purgatory WHERE docs_purgatory.what = 'build' AND docs_purgatory.subject = docs_build.uid))
