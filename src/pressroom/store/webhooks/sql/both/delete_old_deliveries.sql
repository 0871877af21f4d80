DELETE FROM webhook_delivery
 WHERE id IN (SELECT id FROM webhook_delivery WHERE date_ended IS NOT NULL AND date_ended < :before ORDER BY date_ended LIMIT :limit)
RETURNING id
