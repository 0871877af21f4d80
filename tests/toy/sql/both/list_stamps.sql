SELECT name, text FROM toy_stamp WHERE org_id = :org_id ORDER BY name LIMIT :limit
