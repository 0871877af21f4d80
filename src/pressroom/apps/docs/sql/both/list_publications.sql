-- What the editions of an organisation show. The last column: whether a job that has not ended publishes it.
SELECT /* edition_columns */,
       CASE WHEN EXISTS (SELECT 1
                           FROM docs_history
                           JOIN job ON job.uid = docs_history.job_uid
                          WHERE docs_history.edition = docs_edition.id AND docs_history.seq = docs_edition.publish_seq
                            AND docs_history.publish_status = 'publishing' AND job.status IN ('queued', 'in_progress'))
            THEN 1 ELSE 0 END
  FROM docs_project
  JOIN docs_edition ON docs_edition.project = docs_project.id
 WHERE docs_project.org = :org AND docs_project.date_deleted IS NULL AND docs_edition.date_deleted IS NULL
   AND docs_edition.build IS NOT NULL
 ORDER BY docs_project.slug, docs_edition.slug_key
