SELECT uid, kind, status, subject
  FROM job
 WHERE uid = :uid AND (:org_id IS NULL OR org_id = :org_id)
