-- An edition that shows a build holds its artifact, and no other.
SELECT docs_build.job_uid, 'edition ' || docs_edition.id || ' does not hold what it shows, or holds something else'
  FROM docs_edition
  JOIN docs_build ON docs_build.uid = docs_edition.build
 WHERE docs_edition.date_deleted IS NULL
   AND (NOT EXISTS (SELECT 1 FROM artifact_hold
                     WHERE artifact_hold.holder = 'docs:edition:' || docs_edition.id AND artifact_hold.artifact = docs_build.artifact)
        OR EXISTS (SELECT 1 FROM artifact_hold
                    WHERE artifact_hold.holder = 'docs:edition:' || docs_edition.id AND artifact_hold.artifact <> docs_build.artifact))
