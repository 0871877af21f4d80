-- Among the newest jobs only: nothing lists them by their subject.
SELECT uid, kind, status, subject
  FROM (SELECT id, uid, kind, status, subject, org_id FROM job ORDER BY id DESC LIMIT :most) AS newest
 WHERE subject = :subject AND (:org_id IS NULL OR org_id = :org_id)
 ORDER BY id DESC
 LIMIT :limit
