SELECT uid, status, kind, subject, date_created
  FROM job
 WHERE retry_of = :uid AND retry_of IS NOT NULL AND org_id = :org_id
 ORDER BY id DESC
 LIMIT :limit
