SELECT body FROM packs_config_body WHERE org_id = :org_id AND key = :key AND number = :number
