INSERT INTO packs_overlay (org_id, doc_id, scope, scope_id, enabled, tier, unlocked, title, description, reason, author, date_created)
VALUES (:org_id, :doc_id, :scope, :scope_id, :enabled, :tier, :unlocked, :title, :description, :reason, :author, :now)
ON CONFLICT (org_id, doc_id, scope, scope_id) DO UPDATE SET
    enabled = excluded.enabled, tier = excluded.tier, unlocked = excluded.unlocked, title = excluded.title,
    description = excluded.description, reason = excluded.reason, author = excluded.author, date_created = excluded.date_created
