-- Of each project named: how many editions it has, and its newest build.
SELECT docs_project.id,
       (SELECT count(*) FROM docs_edition WHERE docs_edition.project = docs_project.id AND docs_edition.date_deleted IS NULL),
       newest.uid, newest.number, newest.git_ref, newest.alternate_name, newest.status, newest.broken_links, newest.date_created
  FROM docs_project
  LEFT JOIN docs_build newest ON newest.uid = (
       SELECT docs_build.uid FROM docs_build
        WHERE docs_build.project = docs_project.id AND docs_build.date_deleted IS NULL
        ORDER BY docs_build.date_created DESC, docs_build.uid DESC LIMIT 1)
 WHERE docs_project.id IN (SELECT value FROM json_each(:projects))
