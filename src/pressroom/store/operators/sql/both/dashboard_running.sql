SELECT kind, count(*)
  FROM job
 WHERE status = 'in_progress' AND (:org_id IS NULL OR org_id = :org_id)
 GROUP BY kind
 ORDER BY kind
