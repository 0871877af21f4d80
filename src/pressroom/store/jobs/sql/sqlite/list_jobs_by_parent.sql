-- As list_jobs.sql, for the children of one job.
SELECT *
  FROM job_shown
 WHERE parent = :parent AND id < :before
   AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
   AND (:kind IS NULL OR kind = :kind) AND (:tier IS NULL OR tier = :tier) AND (:org_id IS NULL OR org_id = :org_id)
   AND (:subject IS NULL OR subject = :subject) AND (:worker IS NULL OR worker = :worker)
   AND (:project_id IS NULL OR project_id = :project_id)
   AND (:created_after IS NULL OR date_created >= :created_after) AND (:created_before IS NULL OR date_created < :created_before)
 ORDER BY id DESC
 LIMIT :limit
