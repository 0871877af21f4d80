SELECT doc_id, scope, scope_id, enabled, tier, unlocked, title, description, reason
  FROM packs_overlay
 WHERE org_id = :org_id
   AND (scope = 'all'
        OR (scope = 'user' AND scope_id = :user_id)
        OR (scope = 'session' AND scope_id = :session_id)
        OR (scope = 'pack' AND scope_id = :pack))
