SELECT 1 FROM alert WHERE acked_at IS NOT NULL AND acked_at < :before LIMIT 1
