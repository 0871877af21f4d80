-- The newest entry in the history of an edition is the build that it shows.
SELECT docs_build.job_uid, 'edition ' || docs_edition.id || ' shows another build than its history says'
  FROM docs_edition
  JOIN docs_build ON docs_build.uid = docs_edition.build
 WHERE docs_edition.date_deleted IS NULL
   AND docs_edition.build <> (SELECT docs_history.build FROM docs_history
                               WHERE docs_history.edition = docs_edition.id ORDER BY docs_history.seq DESC LIMIT 1)
