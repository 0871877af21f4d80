UPDATE packs_config SET status = 'retired' WHERE org_id = :org_id AND key = :key AND status = 'published' RETURNING number
