SELECT webhook_delivery.id, webhook_delivery.uid, webhook_delivery.webhook, webhook.org_id, webhook_delivery.type,
       webhook_delivery.facts, webhook_delivery.state, webhook_delivery.job, webhook_delivery.attempts, webhook_delivery.status,
       webhook_delivery.response, webhook_delivery.error, webhook_delivery.date_created, webhook_delivery.date_attempted,
       webhook_delivery.date_ended, CASE WHEN job.status = 'queued' THEN job.run_at END
  FROM webhook_delivery
  JOIN webhook ON webhook.uid = webhook_delivery.webhook
  LEFT JOIN job ON job.uid = webhook_delivery.job
 WHERE webhook_delivery.uid = :uid
