-- What every search asks of the jobs that it has `seen`. What is NULL is not asked.
(:statuses IS NULL OR :statuses LIKE '%,' || status || ',%')
AND (:kind IS NULL OR kind = :kind) AND (:tier IS NULL OR tier = :tier) AND (:org_id IS NULL OR org_id = :org_id)
AND (:subject IS NULL OR subject = :subject) AND (:key IS NULL OR key = :key)
AND (:parent IS NULL OR parent = :parent) AND (:worker IS NULL OR worker = :worker)
AND (:since IS NULL OR date_created >= :since) AND (:until IS NULL OR date_created < :until)
AND (:failure IS NULL OR EXISTS (SELECT 1 FROM job_failure WHERE job_failure.job_id = seen.id AND print = :failure))
