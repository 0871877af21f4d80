SELECT key, number, sha256 FROM packs_config WHERE org_id = :org_id AND status = 'published' ORDER BY key
