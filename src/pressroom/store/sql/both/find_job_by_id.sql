SELECT org_id, key FROM job WHERE id = :id
