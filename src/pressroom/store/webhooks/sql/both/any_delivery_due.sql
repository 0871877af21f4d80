SELECT 1 FROM webhook_delivery WHERE job IS NULL AND state = 'waiting' LIMIT 1
