SELECT 1 FROM diagram WHERE id = :diagram AND org_id = :org_id
