-- Those that are owed and have no job yet, oldest first.
SELECT webhook_delivery.id, webhook_delivery.uid, webhook_delivery.webhook, webhook_delivery.type, webhook.org_id
  FROM webhook_delivery
  JOIN webhook ON webhook.uid = webhook_delivery.webhook
 WHERE webhook_delivery.job IS NULL AND webhook_delivery.state = 'waiting'
 ORDER BY webhook_delivery.id
 LIMIT :limit
