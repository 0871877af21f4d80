INSERT INTO packs_config_body (org_id, key, number, body) VALUES (:org_id, :key, :number, :body)
