-- Newest first. The id below which to go on is the cursor.
SELECT id, at, who, org_id, action, target, before, after, request_id
  FROM audit
 WHERE id < :before_id
   AND (:org_id IS NULL OR org_id = :org_id)
   AND (:target IS NULL OR target = :target)
   AND (:action IS NULL OR action = :action)
   AND (:who IS NULL OR who = :who)
 ORDER BY id DESC
 LIMIT :limit
