-- A job of this app with the slugs of its organisation and project. `prefix` is that of its kinds.
SELECT job_shown.*, docs_project.org, docs_project.slug
  FROM job_shown
  LEFT JOIN docs_project ON docs_project.id = job_shown.project_id
 WHERE job_shown.uid = :uid AND job_shown.kind LIKE :prefix
