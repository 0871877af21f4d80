-- No row comes back for one that was received before.
INSERT INTO docs_webhook_delivery (id, digest, date_received)
VALUES (:id, :digest, :now)
ON CONFLICT DO NOTHING
RETURNING id
