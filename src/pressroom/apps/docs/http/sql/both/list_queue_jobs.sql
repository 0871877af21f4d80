-- Newest first. The id below which to go on is the cursor. `project` is an id or a slug; '' and NULL do not filter.
SELECT job_shown.*, docs_project.org, docs_project.slug
  FROM job_shown
  LEFT JOIN docs_project ON docs_project.id = job_shown.project_id
 WHERE job_shown.id < :before AND job_shown.kind LIKE :prefix AND (:kind = '' OR job_shown.kind = :kind)
   AND (:status = '' OR job_shown.status = :status) AND (:org_id IS NULL OR job_shown.org_id = :org_id)
   AND (:project = '' OR job_shown.project_id = :project OR docs_project.slug = :project)
   AND (:created_after IS NULL OR job_shown.date_created >= :created_after)
 ORDER BY job_shown.id DESC
 LIMIT :limit
