-- Newest first. Another organisation may use the same key for very many jobs: those that are looked at are counted.
SELECT uid, kind, status, subject
  FROM (SELECT id, uid, kind, status, subject, org_id FROM job WHERE key = :key ORDER BY id DESC LIMIT :most) AS newest
 WHERE :org_id IS NULL OR org_id = :org_id
 ORDER BY id DESC
 LIMIT :limit
