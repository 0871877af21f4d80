SELECT doc_id, scope, scope_id, enabled, tier, unlocked, title, description, reason
  FROM packs_overlay
 WHERE org_id = :org_id AND doc_id = :doc_id AND scope = :scope AND scope_id = :scope_id
