SELECT doc_id, scope, scope_id, enabled, tier, unlocked, title, description, reason
  FROM packs_overlay
 WHERE org_id = :org_id AND (:scope_id = '' OR scope_id = :scope_id)
 ORDER BY doc_id, scope, scope_id
 LIMIT :limit
