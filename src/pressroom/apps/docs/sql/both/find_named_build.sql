-- For the search box and for jobs: a build by its id, with the project that it belongs to.
SELECT docs_project.org, docs_project.slug, docs_project.id, docs_build.git_ref
  FROM docs_build JOIN docs_project ON docs_project.id = docs_build.project
 WHERE docs_build.uid = :uid AND docs_build.date_deleted IS NULL AND docs_project.date_deleted IS NULL
