-- Those that publish outside of the database, those with editions that are not published, and those with old dashboards.
SELECT slug
  FROM docs_org
 WHERE slots <> '{}'
    OR EXISTS (SELECT 1
                 FROM docs_project
                WHERE docs_project.org = docs_org.slug AND docs_project.date_deleted IS NULL
                  AND (docs_project.dashboard_version < docs_project.editions_version
                       OR EXISTS (SELECT 1
                                    FROM docs_edition
                                   WHERE docs_edition.project = docs_project.id
                                     AND docs_edition.published_seq < docs_edition.publish_seq)))
 ORDER BY slug
