SELECT coalesce(max(number), 0) FROM packs_config WHERE org_id = :org_id AND key = :key
