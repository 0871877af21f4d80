SELECT 1 FROM job WHERE org_id = :org_id AND key = :key AND key IS NOT NULL AND status = 'queued' AND waits_for = 'key' LIMIT 1
