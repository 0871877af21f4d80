SELECT count(*) FROM webhook WHERE org_id = :org_id
