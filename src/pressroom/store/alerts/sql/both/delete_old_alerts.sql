DELETE FROM alert
 WHERE id IN (SELECT id FROM alert WHERE acked_at IS NOT NULL AND acked_at < :before ORDER BY acked_at LIMIT :limit)
RETURNING id
